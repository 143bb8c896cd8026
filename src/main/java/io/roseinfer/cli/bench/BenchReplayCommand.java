package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.replay.Prediction;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.report.ReplayOf;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ServeResult;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.JsonFlag;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;

@picocli.CommandLine.Command(
        name = "replay",
        description = {
            "Repeat a recorded run: the same requests at the same times, in simulated time unless --backend is given.",
            "Flags of bench serve override the recorded ones."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nIn simulated time, completions are as long as in the recorded run.")
public final class BenchReplayCommand implements Command {
    private static final int INVALID = 8;

    /** The flags of this command that are not flags of {@code bench serve}; each takes one value. */
    private static final Set<String> OWN = Set.of("--json", "--report", "--title", "--csv");

    /** Flags for where a replay runs and how it is measured. They are no changes of the recorded run's settings. */
    private static final Set<String> OF_PLACE = Set.of(
            "--backend",
            "--base-url",
            "--step-noise",
            "--max-dispatch-lag-ms",
            "--max-failed",
            "--warmup-requests",
            "--num-warmups",
            "--stall-timeout-s",
            "--reader-threads");

    private static final List<Double> PERCENTILES = List.of(50.0, 90.0, 99.0);

    @Parameters(
            paramLabel = "RUN",
            showDefaultValue = Visibility.NEVER,
            description = "Result file of bench serve --json.")
    private Path run = Path.of("");

    @Mixin
    private JsonFlag json = new JsonFlag();

    @Mixin
    private ReportFlags pages = new ReportFlags();

    @Mixin
    private BenchServeFlags unusedFlags = new BenchServeFlags();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        Optional<ResultFile> file = json.file();
        pages.check(file.stream().toList());
        RecordedRun recorded = RecordedRun.read(run);
        List<String> given = new ArrayList<>(ServeCommandLine.without(OWN, Arguments.of(command)));
        given.remove(given.stream()
                .filter(word -> !word.startsWith("-") && Path.of(word).equals(run))
                .findFirst()
                .orElse(""));
        if (!ExplicitFlags.has(command, "--backend")) {
            given.add("--backend=sim");
        }
        BackendFlags.requireAccepted(ServeCommandLine.parse("bench replay", given));
        Set<String> ofPlace = ofPlace(recorded);
        List<String> changes = ServeCommandLine.without(ofPlace, given);
        ServeCommandLine baseline = line(recorded, ServeCommandLine.only(ofPlace, given));
        Optional<ServeCommandLine> changed = changes.isEmpty() ? Optional.empty() : Optional.of(line(recorded, given));
        Optional<ClientBaseline> floor = MeasuredRun.floor(baseline.flags(), terminal);
        Replay replay = new Replay(recorded, floor, terminal);
        boolean givesCosts = ExplicitFlags.has(command, "--step-costs");
        MeasuredRun same = replay.of(baseline, givesCosts && ofPlace.contains("--step-costs"));
        Optional<MeasuredRun> other = changed.map(line -> replay.of(line, givesCosts));
        MeasuredRun last = other.orElse(same);
        Prediction prediction = Prediction.of(recorded.result(), same.result(), other.map(MeasuredRun::result));
        boolean settingsKnown = !isOverHttp(recorded);
        boolean isInSample = same.system().hasReplayedCosts();
        List<String> extrapolated = Stream.concat(
                        Stream.of("replayed").filter(name -> same.isExtrapolated()),
                        other.filter(MeasuredRun::isExtrapolated).map(run -> "changed").stream())
                .toList();
        ReplayOf comparison = prediction.replayOf(recorded, changes, settingsKnown, isInSample, extrapolated);
        ServeResult result = last.result(last.verdict(), PERCENTILES, Optional.of(comparison));
        file.ifPresent(to -> to.write(result));
        pages.write("replay", () -> result);
        String sameName = settingsKnown ? "the baseline replay" : "the replay";
        terminal.print(text(recorded, last, changes)
                + extrapolation(sameName, same)
                + other.map(run -> extrapolation("the changed replay", run)).orElse("")
                + Prediction.text(comparison));
        if (last.line().flags().endpoint().backend() == EndpointFlags.Kind.SIM && !settingsKnown) {
            terminal.note(
                    "the recorded run used HTTP: a delivery time is sampled for each request, and bunching of tokens is not"
                            + " simulated, so gaps between tokens are those of the engine");
        }
        List<String> left = BackendFlags.notReplayed(baseline);
        if (last.line().flags().endpoint().backend() == EndpointFlags.Kind.SIM && !left.isEmpty()) {
            terminal.note("the recorded run had " + String.join(", ", left) + ", which is not simulated");
        }
        boolean valid = judge(sameName, same, terminal);
        valid &= other.map(run -> judge("the changed replay", run, terminal)).orElse(true);
        return valid ? 0 : INVALID;
    }

    /**
     * Returns {@link #OF_PLACE}, {@code --step-costs} if the recorded run has no steps, and the engine flags if its settings are unknown: then
     * they describe the recorded engine.
     */
    private static Set<String> ofPlace(RecordedRun recorded) {
        Set<String> flags = new HashSet<>(OF_PLACE);
        if (isOverHttp(recorded)) {
            flags.addAll(BackendFlags.ofEngine());
        }
        if (recorded.result().steps().isEmpty()) {
            flags.add("--step-costs");
        }
        return flags;
    }

    private static boolean isOverHttp(RecordedRun recorded) {
        return line(recorded, List.of()).flags().endpoint().backend() == EndpointFlags.Kind.HTTP;
    }

    /** Returns the lines above the table. */
    private static String text(RecordedRun recorded, MeasuredRun last, List<String> changes) {
        StringBuilder out = new StringBuilder("=== replay of " + recorded.name() + ", "
                + last.result().calls().size() + " requests, on "
                + Choices.word(last.line().flags().endpoint().backend()) + " ===\n");
        last.environment().simulated().ifPresent(costs -> out.append("Simulated time: " + costs + "\n"));
        if (!recorded.verdict().isValid()) {
            out.append("The recorded run is invalid, and so are errors against it"
                    + (changes.isEmpty() ? "" : " and changes replayed from it") + ": "
                    + String.join("; ", recorded.verdict().reasons()) + "\n");
        }
        if (!changes.isEmpty()) {
            out.append("Changed: " + String.join(" ", changes) + "\n");
        }
        return out.toString();
    }

    /** Returns the notes of a run as lines above the table if its columns are marked as extrapolated. */
    private static String extrapolation(String which, MeasuredRun run) {
        return run.isExtrapolated()
                ? run.system().notes(run.result()).stream()
                        .map(note -> "~ " + which + ": " + note + "\n")
                        .collect(Collectors.joining())
                : "";
    }

    /** Prints the reasons why a run is invalid, and returns whether it is valid. */
    private static boolean judge(String which, MeasuredRun run, Terminal terminal) {
        RunValidity verdict = run.verdict();
        verdict.reasons().forEach(reason -> terminal.note(which + " is invalid: " + reason));
        verdict.remedies().forEach(remedy -> terminal.note("hint: " + remedy));
        if (!run.isExtrapolated()) {
            run.system().notes(run.result()).forEach(note -> terminal.note(which + ": " + note));
        }
        return verdict.isValid();
    }

    /** Runs the requests of a recorded run again. */
    private record Replay(RecordedRun recorded, Optional<ClientBaseline> floor, Terminal terminal) {
        /**
         * Runs the recorded requests once.
         *
         * @param hasCosts whether step costs on the line override the recorded ones
         */
        MeasuredRun of(ServeCommandLine line, boolean hasCosts) {
            BenchServeFlags flags = line.flags();
            boolean simulated = flags.endpoint().backend() == EndpointFlags.Kind.SIM;
            BenchServeFlags.Load made = flags.load(line.command(), flags.seed());
            OfferedLoad load = recorded.again(made.offered(), simulated);
            if (simulated) {
                recorded.requireOneEngine();
            }
            try (SystemUnderTest system =
                    simulated ? simulation(line, hasCosts) : SystemUnderTest.open(line, terminal)) {
                return new MeasuredRun(
                        line, system, system.run(flags, load), made.counts(), system.environment(), floor);
            }
        }

        private SystemUnderTest simulation(ServeCommandLine line, boolean hasCosts) {
            return SimulationUnderTest.load(line, hasCosts ? Optional.empty() : Optional.of(recorded), terminal);
        }
    }

    private static ServeCommandLine line(RecordedRun recorded, List<String> changes) {
        List<String> before = recorded.command();
        if (before.size() < 2 || !before.subList(0, 2).equals(List.of("bench", "serve"))) {
            throw new BadInput(recorded.name() + " does not contain its command; record a run with bench serve --json");
        }
        List<String> flags = before.subList(2, before.size());
        return ServeCommandLine.parse(recorded.name(), flags).with("bench replay", changes);
    }
}
