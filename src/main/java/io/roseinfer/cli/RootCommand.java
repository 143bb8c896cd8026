package io.roseinfer.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

@Command(
        name = "roseinfer",
        description = "An LLM inference engine for serving research.",
        versionProvider = RootCommand.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:internal error (a bug in roseinfer)",
            "2:invalid flag or request, or an output path that cannot be written",
            "3:the model was not found or cannot be loaded, or a dataset or result file was not found",
            "4:the requested device is not available",
            "5:out of memory",
            "6:writing an output failed after it was opened, for example on a full disk",
            "7:the engine failed",
            "8:the result of a benchmark is invalid",
            "9:arm B of bench ab is worse",
            "10:the address of serve is in use",
            "11:a model could not be downloaded; another attempt resumes",
            "130:interrupted (SIGINT), except serve, which drains and returns 0",
            "141:standard output was closed",
            "143:terminated (SIGTERM); serve, once it listens, drains and returns 0"
        })
final class RootCommand {
    /** The version of the artifact; a test compares it with pom.xml. */
    static final String VERSION = "0.1.0";

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean version;

    @Option(names = "--trace", scope = ScopeType.INHERIT, description = "Show the stack trace of an error.")
    private boolean trace;

    boolean trace() {
        return trace;
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"roseinfer " + VERSION + " (Java " + Runtime.version() + ")"};
        }
    }
}
