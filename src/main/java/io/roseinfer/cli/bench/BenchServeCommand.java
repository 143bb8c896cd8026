package io.roseinfer.cli.bench;

import io.roseinfer.bench.http.ClientFloor;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ServeReport;
import io.roseinfer.cli.flags.PageFlags;
import io.roseinfer.cli.flags.ServeResultFlags;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import tools.jackson.databind.node.ObjectNode;

@picocli.CommandLine.Command(
        name = "serve",
        description = "Offer a load to a server of OpenAI's API, in an open loop, and report what a client saw.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nA run whose client was late, or whose server contradicts itself, ends with exit code 8.")
public final class BenchServeCommand implements Command {
    private static final int INVALID = 8;

    @Mixin
    private ServeFlags flags = new ServeFlags();

    @Mixin
    private ServeResultFlags results = new ServeResultFlags();

    @Mixin
    private PageFlags pages = new PageFlags();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        Optional<ResultFile> file = results.file(flags.arrivals().requestRate());
        pages.check();
        Map<String, Double> unusedBounds = flags.objective().goodput();
        ServeFlags.Load load = flags.load(command, flags.seed());
        if (!load.changes().isEmpty()) {
            terminal.note(load.changes());
        }
        ServeCommandLine line = new ServeCommandLine(Arguments.of(command), command, flags);
        Optional<ClientFloor> floor = MeasuredRun.floor(flags, terminal);
        try (SystemUnderTest system = SystemUnderTest.open(line, terminal)) {
            LoadResult result = system.run(flags, load.offered());
            MeasuredRun run = new MeasuredRun(line, system, result, load.counts(), floor);
            return tell(run, file, terminal);
        }
    }

    private int tell(MeasuredRun run, Optional<ResultFile> file, Terminal terminal) {
        Verdict verdict = run.verdict();
        terminal.print(new ServeReport(
                        results.metrics(),
                        results.percentiles(),
                        flags.objective().goodput())
                .text(run.result(), verdict, run.floor()));
        ObjectNode document = run.json(results.percentiles());
        file.ifPresent(to -> to.write(document));
        pages.write("run", () -> document);
        verdict.reasons().forEach(reason -> terminal.note("the run does not count: " + reason));
        return verdict.isValid() ? 0 : INVALID;
    }
}
