package io.roseinfer.cli.bench;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** The words of a command line. */
final class Arguments {
    private Arguments() {}

    /** All behind the command's name. */
    static List<String> of(CommandSpec command) {
        List<String> all =
                List.copyOf(command.root().commandLine().getParseResult().originalArgs());
        return all.subList(all.indexOf(command.name()) + 1, all.size());
    }

    /** The command line of a study. */
    static List<String> command(CommandSpec command) {
        List<String> words = new ArrayList<>(List.of("bench", command.name()));
        words.addAll(of(command));
        return words;
    }
}
