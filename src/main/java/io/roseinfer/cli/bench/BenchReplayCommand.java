package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.ClientFloor;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.replay.Prediction;
import io.roseinfer.bench.replay.PredictionJson;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.flags.GivenFlags;
import io.roseinfer.cli.flags.JsonFlag;
import io.roseinfer.cli.flags.PageFlags;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

@picocli.CommandLine.Command(
        name = "replay",
        description = {
            "Run a recorded run again: the same requests at the same times, on simulated time unless --backend says otherwise.",
            "Flags of bench serve change what they name; all others are the recorded run's."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nOn simulated time, completions are as long as they were in the recorded run.")
public final class BenchReplayCommand implements Command {
    private static final int INVALID = 8;

    /** This command's own flags, each with one value. */
    private static final Set<String> OWN = Set.of("--json", "--report", "--csv");

    /** What can be changed without changing the server's settings. */
    private static final Set<String> OF_TIME = Set.of(
            "--backend", "--base-url", "--step-costs", "--step-cost-scale", "--step-noise", "--max-dispatch-lag-ms");

    @Parameters(
            paramLabel = "RUN",
            showDefaultValue = Visibility.NEVER,
            description = "What bench serve --json has written.")
    private Path run = Path.of("");

    @Mixin
    private JsonFlag json = new JsonFlag();

    @Mixin
    private PageFlags pages = new PageFlags();

    @Mixin
    private ServeFlags unusedFlags = new ServeFlags();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        Optional<ResultFile> file = json.file();
        pages.check();
        RecordedRun recorded = RecordedRun.read(run);
        List<String> changes = new ArrayList<>(ServeCommandLine.without(OWN, Arguments.of(command)));
        changes.remove(run.toString());
        if (!GivenFlags.has(command, "--backend")) {
            changes.add("--backend=sim");
        }
        ServeCommandLine line = line(recorded, changes);
        OfferedLoad load = load(line, recorded);
        Optional<ClientFloor> floor = MeasuredRun.floor(line.flags(), terminal);
        try (SystemUnderTest system = open(line, recorded, terminal)) {
            LoadResult result = system.run(line.flags(), load);
            MeasuredRun replayed = new MeasuredRun(line, system, result, Map.of(), floor);
            ObjectNode document = replayed.json(List.of(50.0, 90.0, 99.0));
            Prediction prediction = Prediction.of(recorded.result(), result);
            document.withObject("roseinfer").set("replay_of", PredictionJson.of(recorded, prediction));
            file.ifPresent(to -> to.write(document));
            pages.write("replay", () -> document);
            terminal.print("=== replay of " + recorded.name() + ", "
                    + result.calls().size() + " requests, on "
                    + Choices.word(line.flags().endpoint().backend()) + " ===\n" + prediction.text(isSame(command)));
            Verdict verdict = replayed.verdict();
            verdict.reasons().forEach(reason -> terminal.note("the run does not count: " + reason));
            return verdict.isValid() ? 0 : INVALID;
        }
    }

    /** Whether nothing was changed but where and how fast it runs. */
    private static boolean isSame(CommandSpec command) {
        return command.commandLine().getParseResult().matchedOptions().stream()
                .map(option -> option.longestName())
                .allMatch(name -> OF_TIME.contains(name) || OWN.contains(name));
    }

    private static ServeCommandLine line(RecordedRun recorded, List<String> changes) {
        List<String> before = recorded.command();
        if (before.size() < 2 || !before.subList(0, 2).equals(List.of("bench", "serve"))) {
            throw new BadInput(
                    recorded.name() + " does not say by which command it was made; record one with bench serve --json");
        }
        return ServeCommandLine.parse(recorded.name(), before.subList(2, before.size()))
                .with("bench replay", changes);
    }

    /** The requests of the recorded run, made again from its flags and held against what the file has. */
    private static OfferedLoad load(ServeCommandLine line, RecordedRun recorded) {
        OfferedLoad load =
                line.flags().load(line.command(), line.flags().seed()).offered();
        boolean simulated = line.flags().endpoint().backend() == EndpointFlags.Kind.SIM;
        return recorded.again(load, simulated);
    }

    private static SystemUnderTest open(ServeCommandLine line, RecordedRun recorded, Terminal terminal) {
        return line.flags().endpoint().backend() == EndpointFlags.Kind.SIM
                ? SimulationUnderTest.load(
                        line, Optional.of(line.flags().simulation().recorded().orElse(recorded)), terminal)
                : SystemUnderTest.open(line, terminal);
    }
}
