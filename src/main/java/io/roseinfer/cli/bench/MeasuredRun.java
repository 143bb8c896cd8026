package io.roseinfer.cli.bench;

import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ReplayOf;
import io.roseinfer.bench.report.ServeResult;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.terminal.Terminal;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A run with its command line and system.
 *
 * @param line the command line
 * @param system the system under test
 * @param result the run's result
 * @param data counts of what was clipped from the dataset, by name
 * @param environment the environment of the run
 * @param floor the client baseline; empty in simulated time
 */
record MeasuredRun(
        ServeCommandLine line,
        SystemUnderTest system,
        LoadResult result,
        Map<String, Long> data,
        Environment environment,
        Optional<ClientBaseline> floor) {
    /** The client baselines of this process by number of reader threads. */
    private static final Map<Integer, ClientBaseline> BASELINES = new ConcurrentHashMap<>();

    /** Returns the client baseline, which is measured once per process; empty in simulated time. */
    static Optional<ClientBaseline> floor(BenchServeFlags flags, Terminal terminal) {
        return flags.endpoint().backend() == EndpointFlags.Kind.SIM
                ? Optional.empty()
                : Optional.of(BASELINES.computeIfAbsent(
                        flags.readers(), readers -> ClientBaseline.measure(readers, terminal.clock())));
    }

    RunValidity verdict() {
        Stream<String> simulated = environment.simulated().stream().map(costs -> "simulated time, " + costs);
        return line.flags()
                .verdict(result, system, floor)
                .with(Stream.concat(simulated, system.notesOnSettings().stream())
                        .toList());
    }

    /** Returns whether so much of the simulated time is extrapolated that no prediction is validated. */
    boolean isExtrapolated() {
        return system.extrapolatedShare(result).orElse(0) > RunValidity.MAX_EXTRAPOLATED_SHARE;
    }

    /** Returns the results with their {@link #verdict}, and with the recorded run if this is a replay. */
    ServeResult result(RunValidity verdict, List<Double> percentiles, Optional<ReplayOf> replayOf) {
        List<String> command = new ArrayList<>(List.of("bench", "serve"));
        command.addAll(line.arguments());
        command.addAll(line.flags().fittedLengths());
        ServeResult.About about = new ServeResult.About(
                head(),
                command,
                system.settings(),
                environment,
                percentiles,
                line.flags().objective().objectives(),
                line.flags().tenantNames(),
                data,
                replayOf);
        return ServeResult.of(
                line.flags().counted(result),
                verdict,
                floor,
                InstantSource.system().instant(),
                about);
    }

    private Map<String, Object> head() {
        BenchServeFlags flags = line.flags();
        Map<String, Object> head = new LinkedHashMap<>();
        head.put("endpoint_type", Choices.word(flags.endpoint().endpointType()));
        head.put("backend", Choices.word(flags.endpoint().backend()));
        head.put("model_id", system.model());
        head.put("num_prompts", result.calls().size());
        head.put("request_rate", finite(flags.arrivals().requestRate()));
        head.put("burstiness", finite(flags.arrivals().burstiness()));
        flags.maxConcurrency().ifPresent(most -> head.put("max_concurrency", most));
        return head;
    }

    private static Object finite(double value) {
        return Double.isInfinite(value) ? "inf" : (Object) value;
    }
}
