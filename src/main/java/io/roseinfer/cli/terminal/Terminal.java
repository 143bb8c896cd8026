package io.roseinfer.cli.terminal;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Printable;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.util.Map;
import java.util.Optional;

/**
 * Everything a command sees of the process it runs in, so that a test can run one in place and read what it wrote.
 *
 * @param in what a person types, or a pipe brings
 * @param out results, and nothing else
 * @param err messages and progress
 * @param interactive whether a person watches {@code err}: only then are there progress bars
 * @param environment the environment variables
 * @param properties the {@code roseinfer.*} system properties the launcher sets, and {@link #ENCODING}
 * @param clock what benchmarks measure with
 */
public record Terminal(
        BufferedReader in,
        PrintWriter out,
        PrintWriter err,
        boolean interactive,
        Map<String, String> environment,
        Map<String, String> properties,
        Clock clock) {
    /** The system property with the encoding in which the JVM has read the arguments. */
    public static final String ENCODING = "sun.jnu.encoding";

    /** Without anything to read. */
    public Terminal(
            PrintWriter out,
            PrintWriter err,
            boolean interactive,
            Map<String, String> environment,
            Map<String, String> properties,
            Clock clock) {
        this(new BufferedReader(Reader.nullReader()), out, err, interactive, environment, properties, clock);
    }

    /** The next line of the input, if there is one. */
    public Optional<String> readLine() {
        try {
            return Optional.ofNullable(in.readLine());
        } catch (IOException e) {
            throw new BadInput("standard input cannot be read: " + e.getMessage(), e);
        }
    }

    /** Nobody reads standard output any more, as after {@code | head}: the command stops, quietly. */
    public static final class OutputClosed extends RuntimeException {
        public OutputClosed() {
            super("standard output is closed");
        }
    }

    /** Writes results through to the reader. */
    public void print(String text) {
        out.print(text);
        requireReader();
    }

    /** Makes sure that what was written has reached the reader. */
    public void requireReader() {
        if (out.checkError()) {
            throw new OutputClosed();
        }
    }

    /** Returns the message of a failure, with settings as flags. */
    public static String shown(RoseException failure) {
        return failure.message(setting -> "--" + setting.replace('_', '-'));
    }

    /** One line for the person at the keyboard. Whatever a model's file put into the message, the terminal shows it and obeys none of it. */
    public void note(String message) {
        err.println("roseinfer: " + Printable.line(message));
        err.flush();
    }
}
