package io.roseinfer.cli;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.Terminal;
import java.io.BufferedReader;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.Writer;
import java.util.Map;
import picocli.CommandLine;

/** Runs commands in this process and keeps their output. */
public final class CliRunner {
    private CliRunner() {}

    /** Exit code and output of a command. */
    public record Outcome(int code, String out, String err) {}

    public static Outcome run(String... args) {
        StringWriter out = new StringWriter();
        return run(out, Map.of(), args);
    }

    static Outcome run(Map<String, String> environment, String... args) {
        return run(new StringWriter(), environment, args);
    }

    /** Runs a command with the given standard output. */
    static Outcome run(Writer out, Map<String, String> environment, String... args) {
        return run(out, environment, Map.of(), args);
    }

    /** Runs a command whose arguments the JVM decoded with the given encoding. */
    static Outcome runEncoded(String encoding, String... args) {
        return run(new StringWriter(), Map.of(), Map.of(Terminal.ENCODING, encoding), args);
    }

    private static Outcome run(
            Writer out, Map<String, String> environment, Map<String, String> properties, String... args) {
        StringWriter err = new StringWriter();
        int code = Cli.run(terminal(out, err, environment, properties), args);
        return new Outcome(code, out.toString(), err.toString());
    }

    /** Runs a command with standard input. */
    static Outcome runReading(String input, String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Terminal terminal = new Terminal(
                new BufferedReader(new StringReader(input)),
                new PrintWriter(out),
                new PrintWriter(err),
                false,
                Map.of(),
                Map.of(),
                Clock.system());
        int code = Cli.run(terminal, args);
        return new Outcome(code, out.toString(), err.toString());
    }

    private static Terminal terminal(
            Writer out, Writer err, Map<String, String> environment, Map<String, String> properties) {
        return new Terminal(new PrintWriter(out), new PrintWriter(err), false, environment, properties, Clock.system());
    }

    /** Returns all commands with their flags. */
    static CommandLine commands() {
        Terminal terminal = terminal(new StringWriter(), new StringWriter(), Map.of(), Map.of());
        RootCommand root = new RootCommand();
        return Cli.commandLine(terminal, root, new Failures(terminal, root));
    }

    /**
     * Parses a command line without running it.
     *
     * @throws picocli.CommandLine.ParameterException if it is wrong
     */
    static void parse(String... args) {
        Terminal terminal = terminal(new StringWriter(), new StringWriter(), Map.of(), Map.of());
        RootCommand root = new RootCommand();
        String[] expanded = Cli.withDefaultBenchmark(args);
        Cli.commandLine(terminal, root, new Failures(terminal, root), expanded).parseArgs(expanded);
    }
}
