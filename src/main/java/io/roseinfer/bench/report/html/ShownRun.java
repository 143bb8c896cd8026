package io.roseinfer.bench.report.html;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultJson;
import io.roseinfer.bench.report.ServeResult;
import io.roseinfer.bench.report.StreamingResult;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.TokenTimes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A run in the report, independent of the benchmark.
 *
 * @param name its name in the report
 * @param verdict its validity; empty for benchmarks without one
 * @param requests the completed requests
 * @param failed number of failed requests
 * @param engine the engine's steps, as far as known
 * @param facts further metrics by name
 * @param about command, environment and settings by name
 * @param simulated source of the times if they are simulated
 */
record ShownRun(
        String name,
        Optional<RunValidity> verdict,
        List<Request> requests,
        int failed,
        Engine engine,
        Map<String, String> facts,
        Map<String, String> about,
        Optional<String> simulated) {
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * One request; times are nanoseconds since the run's start.
     *
     * @param dueNanos its scheduled time
     * @param sentNanos when it was sent
     * @param admittedNanos when the engine admitted it, if known
     * @param endNanos when it ended
     * @param tokens times of its tokens
     */
    record Request(long dueNanos, long sentNanos, OptionalLong admittedNanos, long endNanos, TokenTimes tokens) {
        private static Request of(CallResult call) {
            return new Request(
                    call.times().dueNanos(),
                    call.times().sentNanos(),
                    call.server()
                            .map(ServerStamps::admittedNanos)
                            .filter(nanos -> nanos != ServerStamps.UNKNOWN)
                            .map(OptionalLong::of)
                            .orElseGet(OptionalLong::empty),
                    call.times().lastChoiceNanos(),
                    call.tokenTimes());
        }

        private static Request of(StreamingResult.Request request) {
            return new Request(
                    request.submitStartNanos(),
                    request.submitStartNanos(),
                    OptionalLong.of(request.admitNanos()),
                    request.finishNanos(),
                    request.tokenTimes());
        }

        boolean hasToken() {
            return tokens.nanos().length > 0;
        }

        /** Returns the time of its first token, or its end if it had none. */
        long firstNanos() {
            return hasToken() ? tokens.nanos()[0] : endNanos;
        }

        OptionalDouble ttftMillis() {
            return millis(tokens.ttftNanos(sentNanos));
        }

        OptionalDouble ttftFromDueMillis() {
            return millis(tokens.ttftNanos(dueNanos));
        }

        OptionalDouble tpotMillis() {
            return millis(tokens.tpotNanos());
        }

        double latencyMillis() {
            return (endNanos - sentNanos) / NANOS_PER_MILLI;
        }

        private static OptionalDouble millis(OptionalDouble nanos) {
            return nanos.isPresent() ? OptionalDouble.of(nanos.getAsDouble() / NANOS_PER_MILLI) : nanos;
        }
    }

    /**
     * The engine, or several equal ones.
     *
     * @param kvBlocks blocks of the KV pool of each engine, or 0 if unknown
     * @param steps steps with times since the run's start, oldest first; empty if unknown
     */
    record Engine(int kvBlocks, List<StepRecord> steps) {
        static final Engine UNKNOWN = new Engine(0, List.of());
    }

    static ShownRun of(String name, ServeResult result) {
        ServeResult.Own own = result.roseinfer();
        LoadResult run = result.run();
        List<CallResult> completed = run.completed();
        int kvBlocks = own.settings().get("kv_blocks") instanceof Number blocks ? blocks.intValue() : 0;
        Map<String, String> about = new LinkedHashMap<>();
        about.put("Command", "roseinfer " + Markup.command(own.command()));
        about.put("Date", String.valueOf(result.vllm().getOrDefault("date", "")));
        about.putAll(about(own.environment(), own.settings()));
        return new ShownRun(
                name,
                Optional.of(own.validity()),
                completed.stream().map(Request::of).toList(),
                run.calls().size() - completed.size(),
                new Engine(kvBlocks, run.steps()),
                facts(result.vllm(), own),
                about,
                own.environment().simulated());
    }

    private static Map<String, String> facts(Map<String, @Nullable Object> vllm, ServeResult.Own own) {
        Map<String, String> facts = new LinkedHashMap<>();
        fact(facts, "Duration (s)", vllm.get("duration"));
        fact(facts, "Requests/s", vllm.get("request_throughput"));
        fact(facts, "Goodput (requests/s)", vllm.get("request_goodput"));
        fact(facts, "Output tokens/s", vllm.get("output_throughput"));
        fact(facts, "Requests/s scheduled", own.load().scheduledRate());
        fact(facts, "Requests/s sent", own.load().achievedRate());
        own.dispatchLagMillis().filter(lag -> lag.count() > 0).ifPresent(lag -> {
            fact(facts, "Dispatch lag p50 (ms)", lag.p50());
            fact(facts, "Dispatch lag p99 (ms)", lag.p99());
        });
        own.client().ifPresent(client -> {
            fact(facts, "Client CPU (s)", client.cpuS());
            fact(facts, "Client collections", client.gcCount());
            fact(facts, "Client's compilers (ms)", client.compileMillis());
        });
        own.scheduler().ifPresent(counts -> {
            fact(facts, "Preemptions", counts.preemptions());
            fact(facts, "Recomputed tokens", counts.recomputedTokens());
            fact(facts, "Prompt tokens from prefix cache", counts.cachedTokens());
            fact(facts, "Prefix cache hit rate (%)", 100 * counts.cacheHitRate());
        });
        Optional<ClientBaseline> floor = own.floor();
        floor.ifPresent(alone -> {
            fact(facts, "Client baseline: token events/s", alone.tokenEventsPerSecond());
            fact(facts, "Client baseline: lag p99 (ms)", alone.lagMillis().p99());
            fact(facts, "Client baseline: TTFT p50 (ms)", alone.ttftMillis().p50());
        });
        return facts;
    }

    /** Returns the runs of a file. */
    static List<ShownRun> of(String name, StreamingResult result) {
        List<ShownRun> runs = new ArrayList<>();
        for (StreamingResult.Run run : result.runs()) {
            Map<String, String> facts = new LinkedHashMap<>();
            fact(facts, "Output tokens/s", run.summary().throughputTokS());
            fact(facts, "Cached prompt tokens", run.cachedTokens());
            fact(facts, "Preemptions", run.preemptions());
            runs.add(new ShownRun(
                    name + (result.runs().size() > 1 ? " run " + (runs.size() + 1) : ""),
                    Optional.empty(),
                    run.requests().stream().map(Request::of).toList(),
                    run.rejected(),
                    Engine.UNKNOWN,
                    facts,
                    about(result.environment(), result.settings()),
                    result.environment().simulated()));
        }
        return runs;
    }

    /** Returns the environment and settings by name. */
    static Map<String, String> about(Environment environment, Map<String, @Nullable Object> settings) {
        Map<String, String> about = ResultJson.flat(environment);
        List<String> values = new ArrayList<>();
        ResultJson.tree(settings).forEachEntry((name, value) -> {
            if (!value.isNull()) {
                values.add(name + "=" + (value.isContainer() ? value.toString() : value.asString()));
            }
        });
        about.put("Settings", String.join(", ", values));
        return about;
    }

    private static void fact(Map<String, String> facts, String name, @Nullable Object value) {
        if (value instanceof Number number) {
            facts.put(name, Markup.number(number.doubleValue()));
        } else if (value instanceof String text) {
            facts.put(name, text);
        }
    }
}
