package io.roseinfer.cli.bench;

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
}
