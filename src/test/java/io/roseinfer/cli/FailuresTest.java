package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException;
import io.roseinfer.cli.terminal.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class FailuresTest {
    private final StringWriter err = new StringWriter();
    private final Terminal terminal = new Terminal(
            new PrintWriter(new StringWriter()), new PrintWriter(err), false, Map.of(), Map.of(), Clock.system());

    private int report(Throwable failure, String... args) {
        RootCommand root = new RootCommand();
        new CommandLine(root).parseArgs(args);
        int code = new Failures(terminal, root).report(failure);
        terminal.err().flush();
        return code;
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(new RoseException.BadInput("why"), 2),
                Arguments.of(new RoseException.BadModel("why"), 3),
                Arguments.of(new RoseException.BackendUnavailable("why"), 4),
                Arguments.of(new RoseException.InsufficientMemory("why"), 5),
                Arguments.of(new RoseException.OutputFailed("why", new IOException()), 6),
                Arguments.of(new RoseException.DeviceFailure("why", false), 7),
                Arguments.of(new RoseException.EngineStopped("why"), 7));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void known_failure_is_one_line_with_its_exit_code(Throwable failure, int code) {
        assertThat(report(failure)).isEqualTo(code);
        assertThat(err).hasToString("roseinfer: why" + System.lineSeparator());
    }

    @Test
    void remedy_settings_are_printed_as_flags() {
        RoseException full =
                new RoseException.InsufficientMemory("too little", Remedy.of("use a smaller %s", "kv_blocks"));
        assertThat(full).hasMessage("too little; use a smaller kvBlocks");
        assertThat(report(full)).isEqualTo(5);
        assertThat(err).hasToString("roseinfer: too little; use a smaller --kv-blocks" + System.lineSeparator());
    }

    @Test
    void unexpected_failure_suggests_the_trace_flag() {
        assertThat(report(new IllegalStateException("odd\nindeed"))).isEqualTo(1);
        assertThat(err)
                .hasToString("roseinfer: unexpected IllegalStateException: odd indeed; run again with --trace to see"
                        + " where" + System.lineSeparator());
    }

    @Test
    void trace_flag_prints_the_stack_trace() {
        report(new IllegalStateException("odd", new ArithmeticException("root")), "--trace");
        assertThat(err.toString())
                .contains("at io.roseinfer.cli.FailuresTest")
                .contains("caused by java.lang.ArithmeticE");
    }

    @Test
    void exhausted_heap_exits_with_5_and_a_remedy() {
        assertThat(report(new OutOfMemoryError("Java heap space"))).isEqualTo(5);
        assertThat(err.toString()).contains("ROSEINFER_JAVA_OPTS=-Xmx").hasLineCount(1);
    }

    /** The KV pool is outside of the heap. */
    @Test
    void exhausted_heap_does_not_suggest_a_smaller_kv_pool() {
        report(new OutOfMemoryError("Java heap space"));
        assertThat(err.toString()).doesNotContain("--kv-blocks");
        report(new OutOfMemoryError("cannot map 100 bytes"));
        assertThat(err.toString()).contains("--kv-blocks");
    }

    @Test
    void engine_stopped_by_an_exhausted_heap_exits_with_5() {
        RoseException stopped = new RoseException.EngineStopped("it stopped", new OutOfMemoryError("Java heap space"));
        assertThat(report(new RoseException.EngineStopped("it stopped", stopped)))
                .isEqualTo(5);
        assertThat(err.toString())
                .contains("out of memory (Java heap space)")
                .contains("ROSEINFER_JAVA_OPTS=-Xmx")
                .hasLineCount(1);
    }

    @Test
    void closed_output_prints_nothing() {
        assertThat(report(new Terminal.OutputClosed())).isEqualTo(141);
        assertThat(err.toString()).isEmpty();
    }
}
