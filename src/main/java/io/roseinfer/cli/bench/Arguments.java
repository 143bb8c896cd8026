package io.roseinfer.cli.bench;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** The arguments of a command line. */
final class Arguments {
    private Arguments() {}

    /** Returns the arguments after the command's name. */
    static List<String> of(CommandSpec command) {
        List<String> all =
                List.copyOf(command.root().commandLine().getParseResult().originalArgs());
        return all.subList(all.indexOf(command.name()) + 1, all.size());
    }

    /** Returns the command line of a study, without {@code roseinfer}. */
    static List<String> command(CommandSpec command) {
        List<String> words = new ArrayList<>(List.of("bench", command.name()));
        words.addAll(of(command));
        return words;
    }
}
