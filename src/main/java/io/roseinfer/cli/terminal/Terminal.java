package io.roseinfer.cli.terminal;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A command's view of its process, so that tests can run commands in-process and read their output.
 *
 * @param in standard input
 * @param out standard output, for results only
 * @param err standard error, for messages and progress
 * @param interactive whether {@code err} is a terminal; only then progress bars are shown
 * @param environment the environment variables
 * @param properties the {@code roseinfer.*} system properties set by the launcher, and {@link #ENCODING}
 * @param clock the clock of benchmarks
 * @param format the format of messages
 */
public record Terminal(
        BufferedReader in,
        PrintWriter out,
        PrintWriter err,
        boolean interactive,
        Map<String, String> environment,
        Map<String, String> properties,
        Clock clock,
        MessageFormat format) {
    /** The system property with the encoding of the command line. */
    public static final String ENCODING = "sun.jnu.encoding";

    /** Creates a terminal without input. */
    public Terminal(
            PrintWriter out,
            PrintWriter err,
            boolean interactive,
            Map<String, String> environment,
            Map<String, String> properties,
            Clock clock) {
        this(new BufferedReader(Reader.nullReader()), out, err, interactive, environment, properties, clock);
    }

    /** Creates a terminal whose messages are text. */
    public Terminal(
            BufferedReader in,
            PrintWriter out,
            PrintWriter err,
            boolean interactive,
            Map<String, String> environment,
            Map<String, String> properties,
            Clock clock) {
        this(in, out, err, interactive, environment, properties, clock, MessageFormat.TEXT);
    }

    /** Returns this terminal with another format of messages. */
    public Terminal withFormat(MessageFormat value) {
        return new Terminal(in, out, err, interactive, environment, properties, clock, value);
    }

    /** Returns the next line of the input; empty at its end. */
    public Optional<String> readLine() {
        try {
            return Optional.ofNullable(in.readLine());
        } catch (IOException e) {
            throw new BadInput("standard input cannot be read: " + e.getMessage(), e);
        }
    }

    /** Thrown if standard output was closed, as by {@code | head}; the command stops silently. */
    public static final class OutputClosed extends RuntimeException {
        public OutputClosed() {
            super("standard output is closed");
        }
    }

    /** Writes and flushes results. */
    public void print(String text) {
        out.print(text);
        requireReader();
    }

    /** Prints a line on standard output; if messages are JSON, as such a message. */
    public void announce(String line) {
        print((format == MessageFormat.JSON ? format.text(System.Logger.Level.INFO, line, null) : line) + "\n");
    }

    /** Flushes standard output, and throws if it was closed. */
    public void requireReader() {
        if (out.checkError()) {
            throw new OutputClosed();
        }
    }

    /** Returns the message of a failure, with settings named as flags. */
    public static String shown(RoseException failure) {
        return failure.message(Terminal::flag);
    }

    /** Returns the flag of a setting, from its name in JSON. */
    static String flag(String setting) {
        return "--" + setting.replace('_', '-');
    }

    /** Prints a one-line message on standard error. Control characters, which may come from a model's files, are escaped. */
    public void note(String message) {
        log(System.Logger.Level.INFO, message, null);
    }

    /** Prints a one-line message about something that may need action. */
    public void warning(String message) {
        log(System.Logger.Level.WARNING, message, null);
    }

    /** Prints a one-line message about the failure that ends the command. */
    public void error(String message) {
        log(System.Logger.Level.ERROR, message, null);
    }

    /** Prints a message, with the stack trace of a failure if there is one. */
    void log(System.Logger.Level level, String message, @Nullable Throwable failure) {
        err.println(format.text(level, message, failure));
        err.flush();
    }
}
