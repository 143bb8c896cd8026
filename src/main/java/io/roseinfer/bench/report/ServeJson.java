package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientFloor;
import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.SchedulerCounts;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.metrics.Percentiles;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The results file of {@code roseinfer bench serve}: first keys of {@code vllm bench serve --save-result --save-detailed}, with its units,
 * then everything else in {@code roseinfer}. Of vLLM's keys it lacks {@code label}, {@code tokenizer_id}, {@code generated_texts},
 * {@code latencies}, {@code queue_times}, {@code max_output_tokens_per_s} and {@code max_concurrent_requests}.
 *
 * <pre>
 * date, endpoint_type, backend, model_id, num_prompts, request_rate ("inf" without one), burstiness, max_concurrency (left out without one)
 * duration (s), completed, failed, total_input_tokens, total_output_tokens
 * request_throughput, request_goodput (only with --goodput, bounds from the intended time), output_throughput, total_token_throughput
 *                              per second of duration
 * mean_, median_, std_, pNN_ with ttft_ms, tpot_ms, itl_ms, e2el_ms      null where there is no sample
 * input_lens[], output_lens[], ttfts[] (s), itls[][] (s), start_times[] (s), errors[]      a value for each request
 * roseinfer
 *   schema, kind               1, "serve"
 *   command[]                  the arguments of the command
 *   settings, environment      as in {@link JsonReport}
 *   validity                   {valid, reasons[], remedies[] (what to do about a late client), notes[]}
 *   load                       {scheduled, scheduled_rate, achieved_rate}: whether requests had times; requests/s, infinite as "inf"
 *   dispatch_lag_ms, client_queue_ms, ttft_intended_ms, e2el_intended_ms
 *                              {count, p50, p95, p99, mean, max}; lag and queue of all requests, the others of the completed
 *   request_goodput_from_sent  request_goodput with bounds on the time since requests were sent, as vLLM has it; only with --goodput
 *   client                     {cpu_s, gc_count, gc_ms, compile_ms, longest_pause_ms, connections_opened_late}, of the process in the window
 *   floor                      {token_events_s, dispatch_lag_ms, ttft_ms} against a server that only writes; null on simulated time
 *   data                       what a reader of traces clipped or left out, by name; empty without a trace
 *   requests[]                 all of them; stamps are ns since the start
 *     id, prompt_tokens (-1 for text), asked_tokens, due_ns, ready_ns, sent_ns, last_choice_ns, end_ns
 *     counted                  ids, running_usage, total or not: how it is known what an event brought
 *     event_ns[], event_tokens[]
 *                              the events that brought tokens, and how many
 *     usage                    [prompt, completion, total, cached] as the server says, -1 where it does not
 *     server                   null, or what the other side stamped: received_ns, parsed_ns, tokenized_ns, admitted_ns, token_ns[],
 *                              read_ns[], written_ns[] (null or empty where it does not say), engine and cached_tokens
 *                              ({@link io.roseinfer.bench.http.ServerStamps})
 *     ttft_parts               null, or where its time to first token went from when it was due, in ms, by the same parts as below
 *     error                    null, or why it failed
 *   ttft_parts, itl_parts      null, or where the time went, in ms: {samples, all, median, tail, slices}, by the parts of
 *                              {@link io.roseinfer.bench.report.FirstToken} and {@link io.roseinfer.bench.report.Gap}
 *                              ({@link PartTable} says over which samples)
 *   gaps_without_steps         gaps that itl_parts leaves out because their steps are not known; 0 if no step is
 *   longest_gaps[]             {request, token, ms, engine, step, step_ms, rows, prefill_tokens} by the client's timestamps, with the step
 *                              that each waited for, if it is known; step_ms leaves out what it waited on the device for the step before
 *   scheduler                  null without steps, or {preemptions, recomputed_tokens, forced_admissions, cached_tokens,
 *                              cache_hit_rate (0 to 1)}, as {@link io.roseinfer.bench.http.SchedulerCounts} has them
 *   steps                      null, or the engine's steps in the window
 *     complete                 whether they go back to every request's first token; an engine remembers only its newest steps
 *     columns[]                names of a row's numbers, as {@link io.roseinfer.metrics.StepRecord.Fact} has them; start_nanos is since
 *                              the start
 *     rows[][]                 a row for each step
 * </pre>
 */
public final class ServeJson {
    /** The version of the fields; a change that breaks readers raises it. */
    public static final int SCHEMA = 1;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * What the file says beside the run itself.
     *
     * @param head the first keys, by name
     * @param command the arguments of the command
     * @param settings all flags
     * @param environment what it ran on
     * @param percentiles which ones, 0 to 100
     * @param goodput most milliseconds by metric; without one goodput is left out
     * @param data what was left out of the data set
     */
    public record About(
            Map<String, ?> head,
            List<String> command,
            Map<String, ?> settings,
            Environment environment,
            List<Double> percentiles,
            Map<String, Double> goodput,
            Map<String, ?> data) {}

    private ServeJson() {}

    /** The document. */
    public static ObjectNode of(
            LoadResult run, Verdict verdict, Optional<ClientFloor> floor, Instant date, About about) {
        ObjectNode root = JsonParts.object().put("date", date.toString());
        about.head().forEach((key, value) -> root.set(key, JsonParts.value(value)));
        totals(root, run);
        if (!about.goodput().isEmpty()) {
            root.put("request_goodput", goodRequests(run, about.goodput()) / run.seconds());
        }
        LatencyTable.fromSent(run).forEach((metric, values) -> latencies(root, metric, about.percentiles(), values));
        details(root, run);
        ObjectNode own = JsonParts.document(SCHEMA, about.settings(), about.environment());
        own.put("kind", "serve");
        own.set("command", JsonParts.value(about.command()));
        own.set("validity", validity(verdict));
        ObjectNode load = own.putObject("load").put("scheduled", run.isScheduled());
        load.set("scheduled_rate", JsonParts.value(finite(run.scheduledRate())));
        load.set("achieved_rate", JsonParts.value(finite(run.achievedRate())));
        own.set("dispatch_lag_ms", summary(LatencyTable.lag(run)));
        own.set("client_queue_ms", summary(LatencyTable.held(run)));
        LatencyTable.fromDue(run).forEach((metric, values) -> own.set(metric + "_ms", summary(values)));
        if (!about.goodput().isEmpty()) {
            long good = good(run, about.goodput(), CallResult::ttftNanos, CallResult::latencyNanos);
            own.put("request_goodput_from_sent", good / run.seconds());
        }
        own.set("client", client(run));
        own.set("floor", floor.map(ServeJson::floor).orElse(null));
        own.set("data", JsonParts.value(about.data()));
        Attribution attribution = Attribution.of(run);
        own.set("requests", requests(run, attribution));
        own.set("ttft_parts", parts(attribution.firstToken()));
        own.set("itl_parts", parts(attribution.gaps()));
        own.put("gaps_without_steps", attribution.gapsWithoutSteps());
        own.set("longest_gaps", gaps(attribution.longest()));
        own.set("scheduler", SchedulerCounts.of(run).map(ServeJson::scheduler).orElse(null));
        own.set("steps", run.steps().isEmpty() ? null : steps(run, attribution.hasAllSteps()));
        root.set("roseinfer", own);
        return root;
    }

    /** A percentile as vLLM's keys have it: no decimals if it has none. */
    static String number(double percentile) {
        return percentile == Math.rint(percentile) ? "" + (long) percentile : "" + percentile;
    }

    private static Object finite(double value) {
        return Double.isFinite(value) ? (Object) value : "inf";
    }

    private static void totals(ObjectNode root, LoadResult run) {
        int completed = run.completed().size();
        double seconds = run.seconds();
        root.put("duration", seconds)
                .put("completed", completed)
                .put("failed", run.calls().size() - completed)
                .put("total_input_tokens", run.inputTokens())
                .put("total_output_tokens", run.outputTokens())
                .put("request_throughput", completed / seconds)
                .put("output_throughput", run.outputTokens() / seconds)
                .put("total_token_throughput", (run.inputTokens() + run.outputTokens()) / seconds);
    }

    /**
     * Returns how many completed requests are within every bound, from when they were to be sent: a wait under a bound on concurrency
     * counts. One of a single token is within every TPOT, and one without a token within no TTFT.
     */
    static long goodRequests(LoadResult run, Map<String, Double> bounds) {
        return good(run, bounds, CallResult::ttftFromDueNanos, CallResult::latencyFromDueNanos);
    }

    private static long good(
            LoadResult run,
            Map<String, Double> bounds,
            Function<CallResult, OptionalDouble> ttft,
            ToDoubleFunction<CallResult> latency) {
        return run.completed().stream()
                .filter(call -> within(bounds, "ttft", ttft.apply(call).orElse(Double.POSITIVE_INFINITY))
                        && within(bounds, "tpot", call.tokenTimes().tpotNanos().orElse(0))
                        && within(bounds, "e2el", latency.applyAsDouble(call)))
                .count();
    }

    private static boolean within(Map<String, Double> bounds, String metric, double nanos) {
        return !bounds.containsKey(metric) || nanos <= bounds.get(metric) * NANOS_PER_MILLI;
    }

    private static ObjectNode scheduler(SchedulerCounts counts) {
        return JsonParts.object()
                .put("preemptions", counts.preemptions())
                .put("recomputed_tokens", counts.recomputedTokens())
                .put("forced_admissions", counts.forcedAdmissions())
                .put("cached_tokens", counts.cachedTokens())
                .put("cache_hit_rate", counts.cacheHitRate());
    }

    private static void latencies(ObjectNode root, String metric, List<Double> percentiles, double... values) {
        String name = metric + "_ms";
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        if (sorted.length == 0) {
            root.putNull("mean_" + name).putNull("median_" + name).putNull("std_" + name);
        } else {
            double mean = Summary.of(sorted).mean();
            double square = Arrays.stream(sorted)
                    .map(x -> (x - mean) * (x - mean))
                    .average()
                    .orElse(0);
            root.put("mean_" + name, mean)
                    .put("median_" + name, Percentiles.of(sorted, 50))
                    .put("std_" + name, Math.sqrt(square));
        }
        for (double percentile : percentiles) {
            String key = "p" + number(percentile) + "_" + name;
            if (sorted.length == 0) {
                root.putNull(key);
            } else {
                root.put(key, Percentiles.of(sorted, percentile));
            }
        }
    }

    private static void details(ObjectNode root, LoadResult run) {
        list(root, "input_lens", run, CallResult::inputTokens);
        list(root, "output_lens", run, CallResult::tokens);
        list(root, "ttfts", run, call -> call.ttftNanos().orElse(0) / NANOS_PER_SECOND);
        list(
                root,
                "itls",
                run,
                call -> Arrays.stream(call.tokenTimes().itlNanos())
                        .map(nanos -> nanos / NANOS_PER_SECOND)
                        .toArray());
        list(root, "start_times", run, call -> (call.times().sentNanos() - run.startNanos()) / NANOS_PER_SECOND);
        list(root, "errors", run, call -> call.error().orElse(""));
    }

    private static void list(ObjectNode root, String name, LoadResult run, Function<CallResult, Object> value) {
        root.set(name, JsonParts.value(run.calls().stream().map(value).toList()));
    }

    private static ObjectNode validity(Verdict verdict) {
        ObjectNode node = JsonParts.object().put("valid", verdict.isValid());
        node.set("reasons", JsonParts.value(verdict.reasons()));
        node.set("remedies", JsonParts.value(verdict.remedies()));
        node.set("notes", JsonParts.value(verdict.notes()));
        return node;
    }

    private static ObjectNode summary(double... millis) {
        return JsonParts.summary(Summary.of(millis));
    }

    private static ObjectNode client(LoadResult run) {
        return JsonParts.object()
                .put("cpu_s", run.cost().cpuNanos() / NANOS_PER_SECOND)
                .put("gc_count", run.cost().collections())
                .put("gc_ms", run.cost().collectionMillis())
                .put("compile_ms", run.cost().compileMillis())
                .put("longest_pause_ms", run.cost().pauseNanos() / NANOS_PER_MILLI)
                .put("connections_opened_late", run.oddities().openedLate());
    }

    private static ObjectNode floor(ClientFloor floor) {
        ObjectNode node = JsonParts.object().put("token_events_s", floor.tokenEventsPerSecond());
        node.set("dispatch_lag_ms", JsonParts.summary(floor.lagMillis()));
        node.set("ttft_ms", JsonParts.summary(floor.ttftMillis()));
        return node;
    }

    private static ArrayNode requests(LoadResult run, Attribution attribution) {
        Map<Integer, FirstToken> first = attribution.slowest().stream()
                .collect(Collectors.toMap(FirstToken::request, Function.identity(), (one, other) -> one));
        ArrayNode requests = JsonParts.object().putArray("requests");
        for (CallResult call : run.calls()) {
            ObjectNode node = request(call, run.startNanos());
            Optional<FirstToken> of = Optional.ofNullable(first.get(call.id()));
            node.set("ttft_parts", of.map(ServeJson::millis).orElse(null));
            requests.add(node.put("error", call.error().orElse(null)));
        }
        return requests;
    }

    private static ObjectNode millis(FirstToken first) {
        ObjectNode node = JsonParts.object();
        first.parts().forEach((part, nanos) -> node.put(part, nanos / NANOS_PER_MILLI));
        return node;
    }

    private static ObjectNode request(CallResult call, long startNanos) {
        CallResult.Times times = call.times();
        ObjectNode node = JsonParts.object()
                .put("id", call.id())
                .put("prompt_tokens", call.promptTokens())
                .put("asked_tokens", call.askedTokens())
                .put("due_ns", times.dueNanos() - startNanos)
                .put("ready_ns", times.readyNanos() - startNanos)
                .put("sent_ns", times.sentNanos() - startNanos)
                .put("last_choice_ns", Math.max(0, times.lastChoiceNanos() - startNanos))
                .put("end_ns", times.endNanos() - startNanos)
                .put("counted", call.arrivals().counted().name().toLowerCase(Locale.ROOT));
        ArrayNode nanos = node.putArray("event_ns");
        call.arrivals().nanos().forEach(stamp -> nanos.add(stamp - startNanos));
        node.set("event_tokens", JsonParts.value(call.arrivals().tokens()));
        node.putArray("usage")
                .add(call.usage().promptTokens())
                .add(call.usage().completionTokens())
                .add(call.usage().totalTokens())
                .add(call.usage().cachedTokens());
        node.set(
                "server",
                call.server().map(stamps -> server(stamps, startNanos)).orElse(null));
        return node;
    }

    private static ObjectNode server(ServerStamps stamps, long startNanos) {
        ObjectNode node = JsonParts.object();
        stamp(node, "received_ns", stamps.receivedNanos(), startNanos);
        stamp(node, "parsed_ns", stamps.parsedNanos(), startNanos);
        stamp(node, "tokenized_ns", stamps.tokenizedNanos(), startNanos);
        stamp(node, "admitted_ns", stamps.admittedNanos(), startNanos);
        stamps(node, "token_ns", stamps.tokenNanos(), startNanos);
        stamps(node, "read_ns", stamps.readNanos(), startNanos);
        stamps(node, "written_ns", stamps.writtenNanos(), startNanos);
        return node.put("engine", stamps.served().engine())
                .put("cached_tokens", stamps.served().cachedTokens());
    }

    private static void stamp(ObjectNode node, String name, long nanos, long startNanos) {
        if (nanos == ServerStamps.UNKNOWN) {
            node.putNull(name);
        } else {
            node.put(name, nanos - startNanos);
        }
    }

    private static void stamps(ObjectNode node, String name, List<Long> all, long startNanos) {
        ArrayNode list = node.putArray(name);
        all.forEach(nanos -> list.add(nanos - startNanos));
    }

    private static @Nullable JsonNode parts(PartTable table) {
        return table.samples() == 0 ? null : JsonParts.value(table);
    }

    private static ArrayNode gaps(List<Gap> longest) {
        ArrayNode gaps = JsonParts.object().putArray("gaps");
        for (Gap gap : longest) {
            ObjectNode node = gaps.addObject()
                    .put("request", gap.request())
                    .put("token", gap.token())
                    .put("ms", gap.nanos() / NANOS_PER_MILLI);
            gap.waitedFor()
                    .ifPresent(step -> node.put("engine", step.get(Fact.ENGINE))
                            .put("step", step.get(Fact.STEP))
                            .put("step_ms", gap.stepNanos() / NANOS_PER_MILLI)
                            .put("rows", step.get(Fact.ROWS))
                            .put("prefill_tokens", step.get(Fact.PREFILL_TOKENS)));
        }
        return gaps;
    }

    private static ObjectNode steps(LoadResult run, boolean complete) {
        ObjectNode node = JsonParts.object().put("complete", complete);
        ArrayNode columns = node.putArray("columns");
        for (Fact fact : Fact.values()) {
            columns.add(fact.key());
        }
        ArrayNode rows = node.putArray("rows");
        for (StepRecord step : run.steps()) {
            ArrayNode row = rows.addArray();
            for (Fact fact : Fact.values()) {
                row.add(step.get(fact) - (fact == Fact.START_NANOS ? run.startNanos() : 0));
            }
        }
        return node;
    }
}
