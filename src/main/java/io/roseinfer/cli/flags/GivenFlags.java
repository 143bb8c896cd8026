package io.roseinfer.cli.flags;

import io.roseinfer.cli.terminal.Terminal;
import java.util.Set;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The flags that stood on the command line, as opposed to those that keep their default. */
public final class GivenFlags {
    private GivenFlags() {}

    /** Whether a flag was given. */
    public static boolean has(CommandSpec command, String flag) {
        return command.commandLine().getParseResult().hasMatchedOption(flag);
    }

    /** Says of a flag, if it was given, that it does nothing. */
    public static void tellWithoutEffect(CommandSpec command, String flag, String why, Terminal terminal) {
        if (has(command, flag)) {
            terminal.note(flag + " has no effect: " + why);
        }
    }

    /** Says of every given flag but those with an effect that it does nothing. */
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
