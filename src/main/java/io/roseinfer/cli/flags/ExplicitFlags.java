package io.roseinfer.cli.flags;

import io.roseinfer.cli.terminal.Terminal;
import java.util.Set;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The flags given on the command line, as opposed to those with their default. */
public final class ExplicitFlags {
    private ExplicitFlags() {}

    /** Returns whether a flag was given. */
    public static boolean has(CommandSpec command, String flag) {
        return command.commandLine().getParseResult().hasMatchedOption(flag);
    }

    /** Prints a note that a flag has no effect, if it was given. */
    public static void tellWithoutEffect(CommandSpec command, String flag, String why, Terminal terminal) {
        if (has(command, flag)) {
            terminal.note(flag + " has no effect: " + why);
        }
    }

    /** Prints a note for every given flag that has no effect. */
    public static void tellOthersWithoutEffect(
            CommandSpec command, Set<String> withEffect, String why, Terminal terminal) {
        for (ArgSpec given : command.commandLine().getParseResult().matchedArgs()) {
            if (given instanceof OptionSpec option
                    && !option.inherited()
                    && !withEffect.contains(option.longestName())) {
                terminal.note(option.longestName() + " has no effect: " + why);
            }
        }
    }
}
