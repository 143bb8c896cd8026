package io.roseinfer.cli.bench;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.observe.Observers;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Measures points one after the other, and reopens the system only for a point that differs in more than its load. */
final class SweepRunner implements AutoCloseable {
    /** Flags of the load, which do not affect the system. */
    private static final Set<String> OF_LOAD = Set.of(
            "request-rate",
            "burstiness",
            "ramp-up-strategy",
            "ramp-up-start-rps",
            "ramp-up-end-rps",
            "max-concurrency",
            "num-prompts",
            "duration",
            "seed",
            "trace-speed",
            "dataset",
            "dataset-path",
            "random-input-len",
            "random-output-len",
            "random-range-ratio",
            "random-prefix-len",
            "random-max-tokens",
            "random-prediction-error",
            "trim-warmup-s",
            "trim-cooldown-s",
            "conversation-turns",
            "think-time-s",
            "tenant",
            "warmup-requests");

    private final List<Double> percentiles;
    private final Terminal terminal;
    private Optional<SystemUnderTest> system = Optional.empty();
    private Map<String, String> setting = Map.of();

    /** Remedies and notes already printed, notes on points without their numbers. */
    private final Set<String> printed = new HashSet<>();

    /**
     * Creates a runner.
     *
     * @param percentiles further percentiles of latencies, 0 to 100
     */
    SweepRunner(List<Double> percentiles, Terminal terminal) {
        this.percentiles = List.copyOf(percentiles);
        this.terminal = terminal;
    }

    SweepPoint measure(ServeCommandLine line, Map<String, String> flags) {
        Map<String, String> wanted = new LinkedHashMap<>(flags);
        wanted.keySet().removeAll(OF_LOAD);
        if (system.isEmpty() || !wanted.equals(setting)) {
            close();
            system = Optional.of(SystemUnderTest.open(line, terminal));
            setting = wanted;
        }
        system.get().fitLengths(line);
        BenchServeFlags.Load load =
                line.flags().load(line.command(), line.flags().seed());
        // Not run(), which would fail the sweep: a point whose prompts do not fit the context is invalid, and the
        // others
        // are still measured.
        system.get().forgetRuns();
        LoadResult result = system.get().offer(line.flags(), offered(line, load.offered(), flags), Observers.NONE);
        RunValidity verdict = line.flags().verdictOfPoint(result, system.get());
        verdict.remedies().stream().filter(printed::add).forEach(remedy -> terminal.note("hint: " + remedy));
        system.get().notesOnSettings().stream()
                .filter(printed::add)
                .map(note -> setting.isEmpty() ? note : first(flags, note))
                .forEach(terminal::note);
        Stream.of(
                        load.notes(),
                        verdict.notes(),
                        environment().simulated().stream().toList())
                .flatMap(List::stream)
                .filter(note -> printed.add(note.replaceAll("[0-9.]+", "")))
                .map(note -> first(flags, note))
                .forEach(terminal::note);
        SweepPoint point = SweepPoint.of(
                flags,
                line.flags().counted(result),
                verdict,
                line.flags().objective().objectives(),
                percentiles);
        OptionalDouble extrapolated = system.get().extrapolatedShare(result);
        return extrapolated.isPresent() ? point.with(SweepPoint.EXTRAPOLATED_SHARE, extrapolated.getAsDouble()) : point;
    }

    private static String first(Map<String, String> flags, String note) {
        return "first at point " + flags + ": " + note;
    }

    /** Returns the environment of the last point. */
    Environment environment() {
        return system.orElseThrow().environment();
    }

    /** Replaces token ids for a server, whose prefix cache would contain the prompts of earlier points. In-process engines start empty. */
    private static OfferedLoad offered(ServeCommandLine line, OfferedLoad load, Map<String, String> point) {
        long number = new TreeMap<>(point).toString().hashCode();
        return line.flags().endpoint().backend() == EndpointFlags.Kind.HTTP
                ? load.withOtherIds(SplitMix64.at(line.flags().seed(), number))
                : load;
    }

    @Override
    public void close() {
        system.ifPresent(SystemUnderTest::close);
        system = Optional.empty();
    }
}
