package io.roseinfer.cli.bench;

import io.roseinfer.cli.flags.BenchServeOutputFlags;
import io.roseinfer.cli.flags.ObserveFlag;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;

@picocli.CommandLine.Command(
        name = "serve",
        description =
                "Send an open-loop load to an OpenAI-compatible server and report the latencies that a client sees.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nThe exit code is 8 if the run is invalid: the client was late, or the server contradicts itself.")
public final class BenchServeCommand implements Command {
    @Mixin
    private BenchServeFlags flags = new BenchServeFlags();

    @Mixin
    private BenchServeOutputFlags results = new BenchServeOutputFlags();

    @Mixin
    private ReportFlags pages = new ReportFlags();

    @Mixin
    private ObserveFlag observe = new ObserveFlag();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        ServeCommandLine line = new ServeCommandLine(Arguments.of(command), command, flags);
        return new ServeRun(line, results, pages, observe).run(terminal);
    }
}
