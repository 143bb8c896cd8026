package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;

class ServeFlagsTest {
    /** A value of each flag other than its default; the file is a key's. */
    private static final Map<String, String> VALUES = Map.of(
            "--host", "127.0.0.2",
            "--port", "8001",
            "--api-key", "secret",
            "--api-key-file", "FILE",
            "--served-model-name", "other",
            "--max-inflight-requests", "5",
            "--max-connections", "6",
            "--request-timeout", "7",
            "--drain-seconds", "8",
            "--access-log", "text");

    @TempDir
    Path folder;

    /** A command with the flags. */
    @Command(name = "serve")
    static final class Serve {
        @Mixin
        ServeFlags flags = new ServeFlags();
    }

    /** Returns everything that the flags of a command line set, as a text. */
    private static String settings(String... arguments) {
        Serve serve = new Serve();
        CommandLine command = new CommandLine(serve);
        Choices.register(command);
        var unused = command.parseArgs(arguments);
        PrintWriter none = new PrintWriter(new StringWriter());
        Terminal terminal = new Terminal(none, none, false, Map.of(), Map.of(), Clock.system());
        return List.<Object>of(
                        serve.flags.options("model", "1", terminal),
                        serve.flags.addTo(EngineOptions.defaults()),
                        serve.flags.drain(),
                        serve.flags.accessLog())
                .toString();
    }

    static Stream<String> flags() {
        return CommandSpec.forAnnotatedObject(new ServeFlags()).options().stream()
                .map(option -> option.names()[0]);
    }

    @Test
    void settings_without_flags_are_equal() {
        assertThat(settings()).isEqualTo(settings());
    }

    @ParameterizedTest
    @MethodSource("flags")
    void every_flag_changes_a_setting(String flag) throws IOException {
        Path key = Files.writeString(folder.resolve("key"), "secret\n");
        String value = VALUES.get(flag);
        assertThat(value).as("value of %s", flag).isNotNull();
        assertThat(settings(flag + "=" + Objects.requireNonNull(value).replace("FILE", key.toString())))
                .isNotEqualTo(settings());
    }
}
