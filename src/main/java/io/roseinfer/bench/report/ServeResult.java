package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.roseinfer.base.MappedList;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.FleetUse;
import io.roseinfer.bench.http.GrammarTimes;
import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.http.SchedulerCounts;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.http.Speculation;
import io.roseinfer.bench.load.OfferedRequest.Traits;
import io.roseinfer.metrics.Distribution;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepTable;
import io.roseinfer.metrics.Summary;
import io.roseinfer.metrics.WritableStep;
import java.time.Instant;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@code bench serve}: the keys of {@code vllm bench serve --save-result --save-detailed} with its units, and everything else
 * in {@code roseinfer}. Missing keys of vLLM are {@code label}, {@code tokenizer_id}, {@code generated_texts}, {@code latencies},
 * {@code queue_times}, {@code max_output_tokens_per_s} and {@code max_concurrent_requests}.
 *
 * <pre>
 * date, endpoint_type, backend, model_id, num_prompts, request_rate ("inf" without one), burstiness, max_concurrency (absent without one)
 * duration (s), completed, failed, total_input_tokens, total_output_tokens
 * request_throughput, request_goodput (only with --goodput or --slo, bounds from the scheduled time), output_throughput, total_token_throughput
 *                              per second of duration
 * mean_, median_, std_, pNN_ with ttft_ms, tpot_ms, itl_ms, e2el_ms      null without samples
 * input_lens[], output_lens[], ttfts[] (s), itls[][] (s), start_times[] (s), errors[]      a value per request
 * </pre>
 *
 * @param vllm the keys of vLLM
 * @param roseinfer everything else
 */
public record ServeResult(@JsonAnyGetter @JsonAnySetter Map<String, @Nullable Object> vllm, Own roseinfer)
        implements BenchResult {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * The description of a run: everything but its measurements.
     *
     * @param head the first keys and their values
     * @param command the arguments of the command
     * @param settings all flags
     * @param environment the environment of the run
     * @param percentiles the percentiles to compute, 0 to 100
     * @param objectives bounds of good requests; if empty, goodput is absent
     * @param tenants the tenants that the command names, also those without a request
     * @param data counts of what was clipped or omitted from the dataset
     * @param replayOf the comparison with the recorded run, for a replay
     */
    public record About(
            Map<String, ?> head,
            List<String> command,
            Map<String, @Nullable Object> settings,
            Environment environment,
            List<Double> percentiles,
            Objectives objectives,
            List<String> tenants,
            Map<String, Long> data,
            Optional<ReplayOf> replayOf) {}

    /**
     * The results that vLLM does not have. Latencies in ms are {@link Summary summaries}; lag and queue are over all requests, the others
     * over the completed ones.
     *
     * @param schema 2; raised by changes that break readers
     * @param settings as in {@link StreamingResult}
     * @param environment the environment of the measurement
     * @param kind "serve"
     * @param command the arguments of the command
     * @param validity the validity of the run
     * @param load the rates of the load
     * @param dispatchLagMillis dispatch lag of the client; null in simulated time
     * @param clientQueueMillis time that requests waited for a concurrency limit
     * @param ttftIntendedMillis time to first token since the request's scheduled time
     * @param e2elIntendedMillis latency since the request's scheduled time
     * @param requestGoodputFromSent request_goodput with bounds since requests were sent, as in vLLM; only with --goodput or --slo
     * @param client resource usage of the client's process during the run; null in simulated time
     * @param floor the client baseline; null in simulated time
     * @param data counts of what was clipped or omitted from a trace, by name; empty without a trace
     * @param requests all requests
     * @param ttftParts breakdown of the time to first token since requests' scheduled times, by the parts of {@link TtftBreakdown}, in simulated
     *     time without those that are 0; null if unknown
     * @param itlParts breakdown of the time between tokens, by the parts of {@link ItlBreakdown}, as for ttftParts; null if unknown
     * @param gapsWithoutSteps gaps excluded from itl_parts because their steps are unknown; 0 if no step is known
     * @param longestGaps the longest gaps by the client's timestamps, longest first
     * @param scheduler counters of the scheduler; null if the steps are unknown
     * @param speculation drafts of the run, only if there were any
     * @param grammars time spent on grammars, only of an engine in this process and with restricted requests
     * @param groups results by tenant and by class, only if the load has them
     * @param fleet the use of several simulated engines; absent for others
     * @param steps the engine's steps during the run; null if unknown
     * @param replayOf the comparison with the recorded run, only for a replay
     */
    public record Own(
            int schema,
            Map<String, @Nullable Object> settings,
            Environment environment,
            String kind,
            List<String> command,
            RunValidity validity,
            Load load,
            Optional<Summary> dispatchLagMillis,
            Summary clientQueueMillis,
            Summary ttftIntendedMillis,
            Summary e2elIntendedMillis,
            @JsonInclude(Include.NON_ABSENT) OptionalDouble requestGoodputFromSent,
            Optional<Client> client,
            Optional<ClientBaseline> floor,
            Map<String, Long> data,
            List<Request> requests,
            Optional<BreakdownTable> ttftParts,
            Optional<BreakdownTable> itlParts,
            int gapsWithoutSteps,
            List<LongGap> longestGaps,
            Optional<SchedulerCounts> scheduler,
            @JsonInclude(Include.NON_ABSENT) Optional<Speculation> speculation,
            @JsonInclude(Include.NON_ABSENT) Optional<GrammarTimes> grammars,
            @JsonInclude(Include.NON_ABSENT) Optional<GroupResults> groups,
            @JsonInclude(Include.NON_ABSENT) Optional<FleetUse> fleet,
            Optional<EngineSteps> steps,
            @JsonInclude(Include.NON_ABSENT) Optional<ReplayOf> replayOf) {}

    /**
     * The rates of a load.
     *
     * @param scheduled whether requests had scheduled times
     * @param scheduledRate requests/s by scheduled time, infinite as "inf"
     * @param achievedRate requests/s by send time, infinite as "inf"
     */
    public record Load(boolean scheduled, Object scheduledRate, Object achievedRate) {}

    /**
     * Resource usage of the client's process, see {@link ClientCost}.
     *
     * @param cpuS processor time in seconds
     * @param connectionsOpenedLate connections opened while requests were scheduled
     */
    public record Client(
            double cpuS,
            long gcCount,
            long gcMillis,
            long compileMillis,
            double longestPauseMillis,
            int connectionsOpenedLate) {
        private static Client of(LoadResult run) {
            ClientCost cost = run.cost();
            return new Client(
                    cost.cpuNanos() / NANOS_PER_SECOND,
                    cost.collections(),
                    cost.collectionMillis(),
                    cost.compileMillis(),
                    cost.pauseNanos() / NANOS_PER_MILLI,
                    run.oddities().openedLate());
        }
    }

    /**
     * A request; timestamps are ns since the start.
     *
     * @param promptTokens -1 for text
     * @param askedTokens requested maximum number of tokens
     * @param dueNanos the request's scheduled time; the next four as in {@link CallResult.Times}
     * @param counted ids, running_usage, total or not: the source of the counts in event_tokens
     * @param eventNanos arrival times of events with tokens
     * @param eventTokens tokens of each event; empty if unknown
     * @param usage [prompt, completion, total, cached] as reported by the server, -1 if unknown
     * @param server the server's timestamps; null if unknown
     * @param ttftParts breakdown of its time to first token since its scheduled time in ms, by the same parts as for all requests; null if unknown
     * @param error reason for the failure; null if it completed
     * @param traits tenant, slo, priority, deadline_ms, max_tokens, predicted_tokens, conversation and turn, as far as the load had them;
     *     absent without any
     */
    public record Request(
            int id,
            int promptTokens,
            int askedTokens,
            long dueNanos,
            long readyNanos,
            long sentNanos,
            long lastChoiceNanos,
            long endNanos,
            CallResult.Counted counted,
            long[] eventNanos,
            int[] eventTokens,
            List<Integer> usage,
            Optional<Stamps> server,
            Optional<Map<String, Double>> ttftParts,
            Optional<String> error,
            @JsonInclude(Include.NON_ABSENT) Optional<Traits> traits) {
        public Request {
            ttftParts = ttftParts.map(BreakdownTable::current);
        }

        private static Request of(CallResult call, Optional<Map<String, Double>> first, long startNanos) {
            CallResult.Times times = call.times();
            CallResult.Usage usage = call.usage();
            return new Request(
                    call.id(),
                    call.promptTokens(),
                    call.askedTokens(),
                    times.dueNanos() - startNanos,
                    times.readyNanos() - startNanos,
                    times.sentNanos() - startNanos,
                    Math.max(0, times.lastChoiceNanos() - startNanos),
                    times.endNanos() - startNanos,
                    call.arrivals().counted(),
                    since(startNanos, call.arrivals().nanos()),
                    call.arrivals().tokens(),
                    List.of(usage.promptTokens(), usage.completionTokens(), usage.totalTokens(), usage.cachedTokens()),
                    call.server().map(stamps -> Stamps.of(stamps, startNanos)),
                    first,
                    call.error(),
                    Optional.of(call.traits()).filter(traits -> !traits.equals(Traits.NONE)));
        }

        /** Returns the measured request, with times since the start of the run. */
        public CallResult call() {
            CallResult call = new CallResult(
                    id,
                    promptTokens,
                    askedTokens,
                    new CallResult.Times(dueNanos, readyNanos, sentNanos, lastChoiceNanos, endNanos),
                    new CallResult.Arrived(counted, eventNanos, eventTokens),
                    new CallResult.Usage(usage(0), usage(1), usage(2), usage(3)),
                    server.map(Stamps::server),
                    error);
            return traits.map(call::withTraits).orElse(call);
        }

        /** Returns the time to first token since the request's scheduled time, the sum of its parts; 0 if they are unknown. */
        public double ttftMillis() {
            return ttftParts.orElse(Map.of()).values().stream()
                    .mapToDouble(Double::doubleValue)
                    .sum();
        }

        private int usage(int count) {
            return count < usage.size() ? usage.get(count) : -1;
        }
    }

    /**
     * The server's timestamps, see {@link ServerStamps}; null or empty if unknown.
     *
     * @param engine index of the engine that served the request, or of the last one
     * @param cachedTokens prompt tokens found in the prefix cache of the first one, or -1
     * @param prefillEngine index of the engine of the first token, if another one decoded
     */
    public record Stamps(
            OptionalLong receivedNanos,
            OptionalLong parsedNanos,
            OptionalLong tokenizedNanos,
            OptionalLong admittedNanos,
            long[] tokenNanos,
            long[] readNanos,
            long[] writtenNanos,
            int engine,
            int cachedTokens,
            @JsonInclude(Include.NON_ABSENT) OptionalInt prefillEngine) {
        private static Stamps of(ServerStamps stamps, long startNanos) {
            return new Stamps(
                    known(stamps.receivedNanos(), startNanos),
                    known(stamps.parsedNanos(), startNanos),
                    known(stamps.tokenizedNanos(), startNanos),
                    known(stamps.admittedNanos(), startNanos),
                    since(startNanos, stamps.tokenNanos()),
                    since(startNanos, stamps.readNanos()),
                    since(startNanos, stamps.writtenNanos()),
                    stamps.served().engine(),
                    stamps.served().cachedTokens(),
                    stamps.served().prefillEngine());
        }

        private static OptionalLong known(long nanos, long startNanos) {
            return nanos == ServerStamps.UNKNOWN ? OptionalLong.empty() : OptionalLong.of(nanos - startNanos);
        }

        private ServerStamps server() {
            return new ServerStamps(
                    receivedNanos.orElse(ServerStamps.UNKNOWN),
                    parsedNanos.orElse(ServerStamps.UNKNOWN),
                    tokenizedNanos.orElse(ServerStamps.UNKNOWN),
                    admittedNanos.orElse(ServerStamps.UNKNOWN),
                    tokenNanos,
                    readNanos,
                    writtenNanos,
                    new ServerStamps.Served(engine, cachedTokens, prefillEngine));
        }
    }

    /**
     * A long gap with the step that it waited for, if known.
     *
     * @param stepMillis duration of the step, without its wait for the previous step on the device
     */
    @JsonInclude(Include.NON_ABSENT)
    public record LongGap(
            int request,
            int token,
            @JsonProperty("ms") double millis,
            OptionalLong engine,
            OptionalLong step,
            OptionalDouble stepMillis,
            OptionalLong rows,
            OptionalLong prefillTokens) {
        private static LongGap of(ItlBreakdown.Gap gap) {
            return new LongGap(
                    gap.request(),
                    gap.token(),
                    gap.nanos() / NANOS_PER_MILLI,
                    fact(gap, Fact.ENGINE),
                    fact(gap, Fact.STEP),
                    gap.waitedFor().isPresent()
                            ? OptionalDouble.of(gap.stepNanos() / NANOS_PER_MILLI)
                            : OptionalDouble.empty(),
                    fact(gap, Fact.ROWS),
                    fact(gap, Fact.PREFILL_TOKENS));
        }

        private static OptionalLong fact(ItlBreakdown.Gap gap, Fact fact) {
            return gap.waitedFor().map(step -> OptionalLong.of(step.get(fact))).orElseGet(OptionalLong::empty);
        }
    }

    /**
     * The steps of the engine.
     *
     * @param complete whether the steps include every request's first token; an engine keeps only its newest steps
     * @param columns names of the columns, see {@link Fact}; start_nanos is since the start
     * @param rows a row for each step
     */
    public record EngineSteps(boolean complete, List<String> columns, List<long[]> rows) {
        private static EngineSteps of(LoadResult run, boolean complete) {
            return new EngineSteps(
                    complete,
                    Arrays.stream(Fact.values()).map(Fact::key).toList(),
                    new MappedList<>(run.steps(), step -> row(step, run.startNanos())));
        }

        private static long[] row(StepRecord step, long startNanos) {
            long[] row = new long[StepRecord.FACTS];
            step.copyTo(row, 0);
            row[Fact.START_NANOS.ordinal()] -= startNanos;
            return row;
        }

        /** Returns the steps by column name; facts without a column are 0. */
        private StepTable table() {
            Fact[] facts = Fact.values();
            int[] ofFact = Arrays.stream(facts)
                    .mapToInt(fact -> columns.indexOf(fact.key()))
                    .toArray();
            StepTable.Builder table = new StepTable.Builder();
            WritableStep step = new WritableStep();
            for (long[] row : rows) {
                for (Fact fact : facts) {
                    int column = ofFact[fact.ordinal()];
                    step.set(fact, column >= 0 && column < row.length ? row[column] : 0);
                }
                table.add(step);
            }
            return table.build();
        }
    }

    /** Returns the results of a run. */
    public static ServeResult of(
            LoadResult run, RunValidity verdict, Optional<ClientBaseline> floor, Instant date, About about) {
        Map<String, @Nullable Object> vllm = new LinkedHashMap<>();
        vllm.put("date", date.toString());
        vllm.putAll(about.head());
        totals(vllm, run);
        if (!about.objectives().isEmpty()) {
            vllm.put("request_goodput", RunMetrics.goodRequests(run, about.objectives()) / run.seconds());
        }
        LatencyTable.fromSent(run).forEach((metric, values) -> latencies(vllm, metric, about.percentiles(), values));
        details(vllm, run);
        return new ServeResult(vllm, own(run, verdict, floor, about));
    }

    private static Own own(LoadResult run, RunValidity verdict, Optional<ClientBaseline> floor, About about) {
        StepIndex steps = new StepIndex(run.steps());
        Attribution attribution = Attribution.of(run, steps);
        Map<String, Distribution> fromDue = LatencyTable.fromDue(run);
        boolean isSimulated = about.environment().simulated().isPresent();
        BreakdownTable first = isSimulated ? attribution.firstToken().withoutZeros() : attribution.firstToken();
        BreakdownTable gaps = isSimulated ? attribution.gaps().withoutZeros() : attribution.gaps();
        return new Own(
                ResultKind.SERVE.schema(),
                about.settings(),
                about.environment(),
                "serve",
                about.command(),
                verdict,
                new Load(run.isScheduled(), finite(run.scheduledRate()), finite(run.achievedRate())),
                isSimulated ? Optional.empty() : Optional.of(Summary.of(LatencyTable.lag(run))),
                Summary.of(LatencyTable.held(run)),
                Summary.of(fromDue.getOrDefault("ttft_intended", Distribution.of())),
                Summary.of(fromDue.getOrDefault("e2el_intended", Distribution.of())),
                about.objectives().isEmpty()
                        ? OptionalDouble.empty()
                        : OptionalDouble.of(RunMetrics.goodRequestsFromSent(run, about.objectives()) / run.seconds()),
                isSimulated ? Optional.empty() : Optional.of(Client.of(run)),
                floor,
                about.data(),
                new MeasuredRequests(run, steps, first.all().keySet()),
                Optional.of(first).filter(table -> table.samples() > 0),
                Optional.of(gaps).filter(table -> table.samples() > 0),
                attribution.gapsWithoutSteps(),
                attribution.longest().stream().map(LongGap::of).toList(),
                SchedulerCounts.of(run),
                Speculation.of(run),
                run.grammars(),
                GroupResults.of(run, about.objectives(), about.tenants()),
                run.fleet(),
                run.steps().isEmpty() ? Optional.empty() : Optional.of(EngineSteps.of(run, attribution.hasAllSteps())),
                about.replayOf());
    }

    /** The requests of a run, created on every access, so that they take no memory. */
    private static final class MeasuredRequests extends AbstractList<Request> {
        private final LoadResult run;
        private final StepIndex steps;
        private final Set<String> parts;

        private MeasuredRequests(LoadResult run, StepIndex steps, Set<String> parts) {
            this.run = run;
            this.steps = steps;
            this.parts = parts;
        }

        @Override
        public Request get(int index) {
            CallResult call = run.calls().get(index);
            Optional<Map<String, Double>> first = (call.isComplete()
                            ? TtftBreakdown.of(call, steps)
                            : Optional.<TtftBreakdown>empty())
                    .map(breakdown -> {
                        Map<String, Double> millis = breakdown.millis();
                        millis.keySet().retainAll(parts);
                        return millis;
                    });
            return Request.of(call, first, run.startNanos());
        }

        @Override
        public int size() {
            return run.calls().size();
        }

        /** Returns the requests with the longest time to first token, of those that have its parts. */
        private List<Request> slowest() {
            long longestNanos = run.calls().stream()
                    .mapToLong(MeasuredRequests::ttftNanos)
                    .max()
                    .orElse(Long.MIN_VALUE);
            return IntStream.range(0, size())
                    .filter(i -> ttftNanos(run.calls().get(i)) == longestNanos)
                    .mapToObj(this::get)
                    .toList();
        }

        /** Returns the sum of the parts; the minimum if there are none. */
        private static long ttftNanos(CallResult call) {
            long[] seen = call.arrivals().nanos();
            return call.isComplete() && call.server().isPresent() && seen.length > 0
                    ? seen[0] - call.times().dueNanos()
                    : Long.MIN_VALUE;
        }
    }

    /** Returns the request with the longest time to first token, the first of equal ones; empty if no parts are known. */
    Optional<Request> slowestFirstToken() {
        List<Request> candidates =
                roseinfer.requests() instanceof MeasuredRequests measured ? measured.slowest() : roseinfer.requests();
        return candidates.stream()
                .filter(request -> request.ttftParts().isPresent())
                .max(Comparator.comparingDouble(Request::ttftMillis));
    }

    /** Formats a percentile for vLLM's keys, without decimals if it is whole. */
    static String number(double percentile) {
        return percentile == Math.rint(percentile) ? "" + (long) percentile : "" + percentile;
    }

    private static Object finite(double value) {
        return Double.isFinite(value) ? (Object) value : "inf";
    }

    private static void totals(Map<String, @Nullable Object> vllm, LoadResult run) {
        int completed = run.completed().size();
        double seconds = run.seconds();
        vllm.put("duration", seconds);
        vllm.put("completed", completed);
        vllm.put("failed", run.calls().size() - completed);
        vllm.put("total_input_tokens", run.inputTokens());
        vllm.put("total_output_tokens", run.outputTokens());
        vllm.put("request_throughput", completed / seconds);
        vllm.put("output_throughput", run.outputTokens() / seconds);
        vllm.put("total_token_throughput", (run.inputTokens() + run.outputTokens()) / seconds);
    }

    private static void latencies(
            Map<String, @Nullable Object> vllm, String metric, List<Double> percentiles, Distribution values) {
        String name = metric + "_ms";
        boolean any = values.size() > 0;
        vllm.put("mean_" + name, any ? values.mean() : null);
        vllm.put("median_" + name, any ? values.percentile(50) : null);
        vllm.put("std_" + name, any ? values.deviation() : null);
        for (double percentile : percentiles) {
            vllm.put("p" + number(percentile) + "_" + name, any ? values.percentile(percentile) : null);
        }
    }

    private static void details(Map<String, @Nullable Object> vllm, LoadResult run) {
        list(vllm, "input_lens", run, CallResult::inputTokens);
        list(vllm, "output_lens", run, CallResult::tokens);
        list(vllm, "ttfts", run, call -> call.ttftNanos().orElse(0) / NANOS_PER_SECOND);
        list(
                vllm,
                "itls",
                run,
                call -> Arrays.stream(call.tokenTimes().itlNanos())
                        .map(nanos -> nanos / NANOS_PER_SECOND)
                        .toArray());
        list(vllm, "start_times", run, call -> (call.times().sentNanos() - run.startNanos()) / NANOS_PER_SECOND);
        list(vllm, "errors", run, call -> call.error().orElse(""));
    }

    private static void list(
            Map<String, @Nullable Object> vllm, String name, LoadResult run, Function<CallResult, Object> value) {
        vllm.put(name, new MappedList<>(run.calls(), value));
    }

    private static long[] since(long startNanos, long... nanos) {
        long[] since = new long[nanos.length];
        for (int i = 0; i < nanos.length; i++) {
            since[i] = nanos[i] - startNanos;
        }
        return since;
    }

    /** Returns the duration of the run in seconds. */
    public double seconds() {
        return vllm.get("duration") instanceof Number number ? number.doubleValue() : 0;
    }

    /** Returns the measured run, with times since its start and without the client's resource usage. */
    public LoadResult run() {
        return new LoadResult(
                0,
                Math.max(1, Math.round(seconds() * NANOS_PER_SECOND)),
                roseinfer.load().scheduled(),
                roseinfer.requests().stream().map(Request::call).toList(),
                ClientCost.NONE,
                Oddities.NONE,
                roseinfer.steps().map(EngineSteps::table).orElse(StepTable.EMPTY));
    }

    @Override
    public List<Map<String, String>> table() {
        return new MappedList<>(roseinfer.requests(), this::row);
    }

    private Map<String, String> row(Request request) {
        CallResult call = request.call();
        Map<String, String> row = new LinkedHashMap<>();
        row.put("id", Integer.toString(request.id()));
        row.put("prompt_tokens", Integer.toString(request.promptTokens()));
        row.put(
                "tokens",
                Integer.toString(
                        request.eventTokens().length == 0
                                ? request.usage(1)
                                : call.arrivals().sum()));
        row.put("due_ms", CsvReport.millis((double) request.dueNanos()));
        CsvReport.times(row, request.sentNanos(), request.lastChoiceNanos(), call.tokenTimes());
        row.put("error", request.error().orElse(""));
        request.server().ifPresent(stamps -> {
            row.put(
                    "admitted_ms",
                    stamps.admittedNanos().isPresent()
                            ? CsvReport.millis((double) stamps.admittedNanos().getAsLong())
                            : "");
            row.put("engine", Integer.toString(stamps.engine()));
        });
        if (call.cachedTokens() >= 0) {
            row.put("cached_tokens", Integer.toString(call.cachedTokens()));
        }
        request.traits().ifPresent(traits -> {
            traits.tenant().ifPresent(name -> row.put("tenant", name));
            traits.slo().ifPresent(name -> row.put("slo", name));
            traits.priority().ifPresent(priority -> row.put("priority", Integer.toString(priority)));
            traits.deadlineMillis().ifPresent(millis -> row.put("deadline_ms", Double.toString(millis)));
            traits.maxTokens().ifPresent(tokens -> row.put("max_tokens", Integer.toString(tokens)));
            traits.predictedTokens().ifPresent(tokens -> row.put("predicted_tokens", Integer.toString(tokens)));
            traits.conversation().ifPresent(number -> row.put("conversation", Integer.toString(number)));
            traits.turn().ifPresent(number -> row.put("turn", Integer.toString(number)));
        });
        roseinfer
                .validity()
                .extrapolatedShare()
                .ifPresent(share -> row.put("extrapolated_share", Double.toString(share)));
        CsvReport.simulation(row, roseinfer.environment());
        return row;
    }
}
