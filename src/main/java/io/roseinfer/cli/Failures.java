package io.roseinfer.cli;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.cli.terminal.StackTraces;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.cli.terminal.UsageMessage;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.ParameterException;

/** Reports failures of commands: one line on stderr and an exit code. Stack traces are printed only with {@code --trace}. */
final class Failures {
    private static final int BUG = 1;
    private static final int USAGE = 2;
    static final int OUT_OF_MEMORY = 5;
    private static final int SIGPIPE = 128 + 13;

    private final Terminal terminal;
    private final RootCommand root;

    Failures(Terminal terminal, RootCommand root) {
        this.terminal = terminal;
        this.root = root;
    }

    /** Returns reports on another terminal. */
    Failures on(Terminal other) {
        return new Failures(other, root);
    }

    /**
     * Reports a failure and returns the exit code.
     *
     * @param arguments the command line, as far as known
     */
    int report(Throwable failure, String... arguments) {
        int code =
                switch (failure) {
                    case Terminal.OutputClosed closed -> SIGPIPE;
                    case ParameterException wrong -> print(USAGE, UsageMessage.of(wrong, List.of(arguments)));
                    case RoseException known ->
                        exhaustion(known)
                                .map(full -> print(OUT_OF_MEMORY, outOfMemory(message(full))))
                                .orElseGet(() -> print(known.exitCode(), message(known)));
                    case OutOfMemoryError full -> print(OUT_OF_MEMORY, outOfMemory(message(full)));
                    default -> print(BUG, bug(failure));
                };
        if (root.trace() && code != SIGPIPE) {
            printTrace(failure);
        }
        return code;
    }

    private int print(int code, String message) {
        terminal.error(message);
        return code;
    }

    /** Returns the error of the memory that ran out, if that stopped an engine. */
    private static Optional<OutOfMemoryError> exhaustion(RoseException failure) {
        return Stream.iterate((Throwable) failure, cause -> cause != null, Throwable::getCause)
                .filter(cause -> failure instanceof EngineStopped && cause instanceof OutOfMemoryError)
                .map(OutOfMemoryError.class::cast)
                .findFirst();
    }

    /** Returns a one-line message with advice for exhausted memory. The heap contains neither weights nor KV pool. */
    static String outOfMemory(String seen) {
        String advice = "raise the limit with ROSEINFER_JAVA_OPTS=-Xmx<n>g";
        return "out of memory (" + seen + "): "
                + (seen.equals("Java heap space")
                        ? advice
                        : advice + ", or use less with --kv-blocks, --max-batch-size or a smaller model");
    }

    private String bug(Throwable failure) {
        String trace = root.trace() ? "" : "; run again with --trace to see where";
        return "unexpected " + failure.getClass().getSimpleName() + ": " + message(failure) + trace;
    }

    private static String message(Throwable failure) {
        return failure instanceof RoseException known
                ? Terminal.shown(known)
                : Objects.requireNonNullElse(failure.getMessage(), "no message");
    }

    private void printTrace(Throwable failure) {
        StackTraces.print(failure, terminal.err());
        terminal.err().flush();
    }
}
