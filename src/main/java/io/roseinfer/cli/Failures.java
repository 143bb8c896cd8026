package io.roseinfer.cli;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.Spelling;
import io.roseinfer.cli.terminal.Terminal;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Failures of commands: one line on stderr and an exit code for each. A stack trace appears with {@code --trace} only. */
final class Failures {
    private static final int BUG = 1;
    private static final int USAGE = 2;
    static final int OUT_OF_MEMORY = 5;
    private static final String DASHES = "--";
    private static final int MOST_LONGER = 3;
    private static final int SIGPIPE = 128 + 13;

    private final Terminal terminal;
    private final RootCommand root;

    Failures(Terminal terminal, RootCommand root) {
        this.terminal = terminal;
        this.root = root;
    }

    /** Tells what happened and returns the exit code. */
    int report(Throwable failure) {
        int code =
                switch (failure) {
                    case Terminal.OutputClosed closed -> SIGPIPE;
                    case ParameterException wrong -> told(USAGE, usage(wrong));
                    case RoseException known ->
                        exhaustion(known)
                                .map(full -> told(OUT_OF_MEMORY, outOfMemory(message(full))))
                                .orElseGet(() -> told(known.exitCode(), message(known)));
                    case OutOfMemoryError full -> told(OUT_OF_MEMORY, outOfMemory(message(full)));
                    default -> told(BUG, bug(failure));
                };
        if (root.trace() && code != SIGPIPE) {
            printTrace(failure);
        }
        return code;
    }

    private int told(int code, String message) {
        terminal.note(message);
        return code;
    }

    private static String usage(ParameterException wrong) {
        if (wrong instanceof OverwrittenOptionException twice && twice.getOverwritten() instanceof OptionSpec option) {
            return String.join(" or ", option.names()) + " is given more than once; give it once";
        }
        return wrong instanceof UnmatchedArgumentException unmatched
                ? unmatched(unmatched)
                : message(wrong).replaceFirst("^Error: ", "");
    }

    /** What is no option and no command, with what was probably meant: by spelling, else by picocli, which compares parts of names. */
    private static String unmatched(UnmatchedArgumentException unmatched) {
        String message = message(unmatched);
        CommandSpec command = unmatched.getCommandLine().getCommandSpec();
        String first = unmatched.getUnmatched().getFirst().split("=", 2)[0];
        List<String> meant = unmatched.isUnknownOption()
                ? options(first, command)
                : Spelling.nearest(first, command.subcommands().keySet());
        List<String> suggestions = meant.isEmpty() ? unmatched.getSuggestions() : meant;
        boolean takesPrompt = command.findOption("--prompt") != null;
        if (suggestions.isEmpty() && takesPrompt && !unmatched.isUnknownOption()) {
            return message + "; a prompt is given as --prompt TEXT, in quotes if it has spaces";
        }
        return message + Spelling.suggestion(suggestions);
    }

    /**
     * The options nearest to one that is unknown, or those that have it as a part, as {@code --max-batch-size} has {@code --batch-size}.
     * Dashes at the beginning are no letters: with them {@code --block-size} would be near to that.
     */
    private static List<String> options(String unknown, CommandSpec command) {
        String name = unknown.replaceFirst("^-+", "");
        List<String> names = Stream.of(command.optionsMap(), command.negatedOptionsMap())
                .flatMap(options -> options.keySet().stream())
                .filter(option -> option.startsWith(DASHES))
                .map(option -> option.substring(DASHES.length()))
                .toList();
        List<String> near = Spelling.nearest(name, names);
        Stream<String> longer = names.stream().filter(option -> option.contains(name));
        return (near.isEmpty() && !name.isEmpty() ? longer.limit(MOST_LONGER) : near.stream())
                .map(DASHES::concat)
                .toList();
    }

    /** The memory that ran out, if that is what stopped an engine. */
    private static Optional<OutOfMemoryError> exhaustion(RoseException failure) {
        return Stream.iterate((Throwable) failure, cause -> cause != null, Throwable::getCause)
                .filter(cause -> failure instanceof EngineStopped && cause instanceof OutOfMemoryError)
                .map(OutOfMemoryError.class::cast)
                .findFirst();
    }

    /** Advice for memory that has run out, in one line. */
    static String outOfMemory(String seen) {
        return "out of memory (" + seen + "): give the JVM more with ROSEINFER_JAVA_OPTS=-Xmx<n>g, or ask for"
                + " less with --kv-blocks, --max-batch-size or a smaller model";
    }

    private String bug(Throwable failure) {
        String trace = root.trace() ? "" : "; run it again with --trace to see where";
        return "unexpected " + failure.getClass().getSimpleName() + ": " + message(failure) + trace;
    }

    private static String message(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? "no message" : message;
    }

    private void printTrace(Throwable failure) {
        StackTraces.print(failure, terminal.err());
        terminal.err().flush();
    }
}
