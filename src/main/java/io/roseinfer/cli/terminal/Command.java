package io.roseinfer.cli.terminal;

import picocli.CommandLine.Model.CommandSpec;

/** A command that has been parsed and can run. */
public interface Command {
    /**
     * Runs to the end.
     *
     * @param spec the parsed command line
     * @return the process exit code
     */
    int run(CommandSpec spec, Terminal terminal);
}
