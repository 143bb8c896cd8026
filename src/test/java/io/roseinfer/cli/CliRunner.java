package io.roseinfer.cli;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.Map;

/** Runs commands in this process and keeps what they say. */
final class CliRunner {
    private CliRunner() {}

    /** What a command did. */
    record Outcome(int code, String out, String err) {}

    static Outcome run(String... args) {
        StringWriter out = new StringWriter();
        return run(out, Map.of(), args);
    }

    static Outcome run(Map<String, String> environment, String... args) {
        return run(new StringWriter(), environment, args);
    }

    /** With standard output of the caller's choice. */
    static Outcome run(Writer out, Map<String, String> environment, String... args) {
        return run(out, environment, Map.of(), args);
    }

    /** With arguments that the JVM has read in some encoding. */
    static Outcome runEncoded(String encoding, String... args) {
        return run(new StringWriter(), Map.of(), Map.of(Terminal.ENCODING, encoding), args);
    }

    private static Outcome run(
            Writer out, Map<String, String> environment, Map<String, String> properties, String... args) {
        StringWriter err = new StringWriter();
        Terminal terminal = new Terminal(
                new PrintWriter(out), new PrintWriter(err), false, environment, properties, Clock.system());
        int code = Cli.run(terminal, args);
        return new Outcome(code, out.toString(), err.toString());
    }
}
