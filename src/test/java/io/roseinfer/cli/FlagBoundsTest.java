package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.cli.flags.Numbers;
import io.roseinfer.cli.flags.Within;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Stack;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Checks that every numeric flag of every command accepts exactly the values within its bounds. */
class FlagBoundsTest {
    private static final CommandLine COMMANDS = CliRunner.commands();
    private static final Set<Class<?>> NUMBERS =
            Set.of(int.class, Integer.class, float.class, double.class, Double.class, Numbers.class);
    private static final Set<Class<?>> WHOLE = Set.of(int.class, Integer.class, Numbers.class);

    private static Stream<CommandLine> commands(CommandLine from) {
        return Stream.concat(
                Stream.of(from), from.getSubcommands().values().stream().flatMap(FlagBoundsTest::commands));
    }

    /** Returns the numeric options, without duplicates across commands. */
    static List<OptionSpec> numbers() {
        List<OptionSpec> options = commands(COMMANDS)
                .flatMap(command -> command.getCommandSpec().options().stream())
                .filter(option -> NUMBERS.contains(type(option)) && !option.isMultiValue())
                .toList();
        assertThat(options).hasSizeGreaterThan(100);
        Set<Object> seen = new HashSet<>();
        return options.stream().filter(option -> seen.add(option.userObject())).toList();
    }

    private static Class<?> type(OptionSpec option) {
        return option.typeInfo().getAuxiliaryTypes()[0];
    }

    private static Optional<Within> bounds(OptionSpec option) {
        return Optional.ofNullable(((Field) option.userObject()).getAnnotation(Within.class));
    }

    @Test
    void every_numeric_flag_has_checked_bounds() {
        assertThat(numbers()).allSatisfy(option -> {
            assertThat(bounds(option)).isPresent();
            assertThat(option.preprocessor()).isInstanceOf(Within.Check.class);
        });
    }

    @SuppressWarnings("JdkObsolete") // the parser takes a Stack
    private static void check(OptionSpec option, String text) {
        Stack<String> words = new Stack<>();
        words.push(text);
        boolean consumed = option.preprocessor().preprocess(words, COMMANDS.getCommandSpec(), option, Map.of());
        assertThat(consumed).isFalse();
        assertThat(words).containsExactly(text);
    }

    private static String text(OptionSpec option, double value) {
        return type(option) == float.class
                ? Float.toString((float) value)
                : new BigDecimal(value).stripTrailingZeros().toPlainString();
    }

    /** Returns the value of the flag's type next to a bound, up (1) or down (-1). */
    private static double next(OptionSpec option, double bound, int direction) {
        if (WHOLE.contains(type(option))) {
            return bound + direction;
        }
        double far = direction * Double.MAX_VALUE;
        return type(option) == float.class ? Math.nextAfter((float) bound, far) : Math.nextAfter(bound, far);
    }

    private static void requireRefused(OptionSpec option, String text) {
        assertThatThrownBy(() -> check(option, text))
                .isInstanceOf(ParameterException.class)
                .message()
                .containsPattern("^" + option.longestName() + " is '?" + Pattern.quote(text) + "'?; it must be \\S");
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void bounds_are_inclusive(OptionSpec option) {
        Within bounds = bounds(option).orElseThrow();
        if (Double.isFinite(bounds.min())) {
            check(option, text(option, bounds.min()));
            requireRefused(option, text(option, next(option, bounds.min(), -1)));
        }
        if (Double.isFinite(bounds.max())) {
            check(option, text(option, bounds.max()));
            requireRefused(option, text(option, next(option, bounds.max(), 1)));
        }
        if (Double.isFinite(bounds.above())) {
            requireRefused(option, text(option, bounds.above()));
            check(option, text(option, next(option, bounds.above(), 1)));
        }
        if (Double.isFinite(bounds.below())) {
            requireRefused(option, text(option, bounds.below()));
            check(option, text(option, next(option, bounds.below(), -1)));
        }
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void invalid_decimal_number_is_rejected(OptionSpec option) {
        for (String text :
                List.of("", "x", "NaN", "Infinity", "-Infinity", "0x1", "0x1p3", "1e400", "99999999999999999999e999")) {
            requireRefused(option, text);
        }
        if (!bounds(option).orElseThrow().orInfinite()) {
            requireRefused(option, "inf");
        }
    }
}
