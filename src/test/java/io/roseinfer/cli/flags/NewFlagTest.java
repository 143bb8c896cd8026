package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Follows {@code add-a-flag.md}: a flag is only a field of a group. */
class NewFlagTest {
    private static final int MAX_DEPTH = 7;

    /** The values of a choice. */
    enum Shape {
        ROUND,
        LONG_AND_THIN
    }

    /** A flag group with a number, a list and a choice. */
    static final class Group {
        @Option(names = "--depth", preprocessor = Within.Check.class)
        @Within(min = 1, max = MAX_DEPTH)
        int depth = 2;

        @Option(names = "--shape")
        Optional<Shape> shape = Optional.empty();

        @Option(names = "--sizes", converter = Numbers.Parser.class, preprocessor = Within.Check.class)
        @Within(min = 0)
        Numbers sizes = Numbers.of(1);
    }

    /** A command with the group. */
    @Command(name = "new")
    static final class WithGroup {
        @Mixin
        Group group = new Group();
    }

    private static CommandLine parse(String... arguments) {
        CommandLine command = new CommandLine(new WithGroup());
        Choices.register(command);
        var unused = command.parseArgs(arguments);
        return command;
    }

    @Test
    void value_is_read_and_recorded_under_the_flag_name() {
        CommandLine command = parse("--depth=7", "--shape=long_and_thin", "--sizes=3,0");
        assertThat(FlagValues.of(command.getCommandSpec()))
                .containsEntry("depth", 7)
                .containsEntry("shape", "long_and_thin")
                .containsEntry("sizes", List.of(3, 0));
    }

    static Stream<Arguments> wrongValues() {
        return Stream.of(
                Arguments.of("--depth=8", "--depth is 8; it must be 1 to 7"),
                Arguments.of("--sizes=1,-1", "--sizes is -1; it must be 0 or more"),
                Arguments.of("--shape=square", "'--shape': 'square' is not one of round, long_and_thin"));
    }

    @ParameterizedTest
    @MethodSource("wrongValues")
    void invalid_value_is_rejected_with_the_flag_name(String argument, String message) {
        assertThatThrownBy(() -> parse(argument))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining(message);
    }
}
