package io.roseinfer.cli.terminal;

import picocli.CommandLine.Model.CommandSpec;

/** A parsed command. */
public interface Command {
    /**
     * Runs the command.
     *
     * @param spec the parsed command line
     * @return the process exit code
     */
    int run(CommandSpec spec, Terminal terminal);

    /** Returns the format of messages, also of the one about a failure of {@link #run}. */
    default MessageFormat format() {
        return MessageFormat.TEXT;
    }
}
