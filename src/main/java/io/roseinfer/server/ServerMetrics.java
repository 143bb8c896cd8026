package io.roseinfer.server;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.api.CompletionJson;
import io.roseinfer.server.http.Reply;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The metrics of {@code /metrics}, under vLLM's names, with finer buckets below a millisecond. A scrape includes the
 * times of all tokens so far; other times of requests are recorded after they have ended, on the responding threads.
 * The engine's thread records one number per step. Names that vLLM does not have begin with {@code roseinfer:}.
 */
public final class ServerMetrics {
    /** From 100 µs to 2560 s; includes the bounds of vLLM in that range. */
    private static final double[] SECONDS = {
        1e-4, 2e-4, 5e-4, .001, .002, .005, .01, .02, .025, .04, .05, .06, .075, .08, .1, .15, .2, .25, .3, .4, .5, .75,
        .8, 1, 1.5, 2, 2.5, 5, 7.5, 10, 15, 20, 30, 40, 50, 60, 80, 120, 160, 240, 480, 640, 960, 1920, 2560
    };

    private static final double[] TOKENS = {
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000
    };

    private static final double[] STEP_TOKENS = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384};

    private static final double[] CHOICES = {1, 2, 5, 10, 20};

    private static final int FIRST_ERROR = 400;

    /** Statuses that have a series before the first error, so that a rate includes that error. */
    private static final int[] ERRORS_FROM_THE_START = {400, 401, 429, 500, 503};

    private static final String[] GRAMMARS_FROM_THE_START = {"response_format", "structured_outputs", "tools"};

    private static final String MODEL = "model_name";
    private static final String ENGINE = "engine";
    /** With several replicas: the label of totals. */
    private static final String ALL = "all";

    private static final String SHARED = "shared";
    private static final String ENDED = "finished_reason";

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final String model;
    private final int replicas;
    private final RequestsInFlight inFlight = new RequestsInFlight();
    private final LongAdder disconnected = new LongAdder();
    private final DistributionDataPoint[] stepTokens;
    /** For each replica the accepted draft tokens at each position. */
    private final AtomicLongArray[] acceptedAt;

    private final DistributionDataPoint promptTokens;
    private final DistributionDataPoint completionTokens;
    private final DistributionDataPoint longestCompletion;
    private final DistributionDataPoint maxTokens;
    private final DistributionDataPoint choices;
    private final DistributionDataPoint ttft;
    private final DistributionDataPoint interToken;
    private final DistributionDataPoint perToken;
    private final DistributionDataPoint latency;
    private final DistributionDataPoint queue;
    private final DistributionDataPoint prefill;
    private final DistributionDataPoint decode;
    private final DistributionDataPoint inference;
    private final DistributionDataPoint grammarCompile;
    private final DistributionDataPoint grammarMask;
    private final Counter calls;
    private final Counter errors;
    private final Counter grammars;
    private final CounterDataPoint toolCalls;

    /** Creates the metrics of an engine with one replica. */
    public ServerMetrics(String modelName) {
        this(modelName, 1);
    }

    /** Creates the metrics of one model's engine, which is to be opened with {@link #observers}. */
    public ServerMetrics(String modelName, int replicas) {
        this.model = Objects.requireNonNull(modelName, "modelName");
        this.replicas = replicas;
        Histogram steps = histograms("vllm:iteration_tokens_total", "Tokens computed per step.", STEP_TOKENS);
        stepTokens = IntStream.range(0, replicas)
                .mapToObj(replica -> steps.labelValues(model, String.valueOf(replica)))
                .toArray(DistributionDataPoint[]::new);
        acceptedAt = IntStream.range(0, replicas)
                .mapToObj(replica -> new AtomicLongArray(StepRecord.DRAFT_POSITIONS))
                .toArray(AtomicLongArray[]::new);
        promptTokens = histogram("vllm:request_prompt_tokens", "Prompt tokens per request.", TOKENS);
        completionTokens = histogram("vllm:request_generation_tokens", "Generated tokens per request.", TOKENS);
        longestCompletion =
                histogram("vllm:request_max_num_generation_tokens", "Tokens of a call's longest completion.", TOKENS);
        maxTokens = histogram("vllm:request_params_max_tokens", "Values of max_tokens.", TOKENS);
        choices = histogram("vllm:request_params_n", "Values of n.", CHOICES);
        ttft = seconds("vllm:time_to_first_token_seconds", "Time from submission to the first token.");
        interToken = seconds("vllm:inter_token_latency_seconds", "Time between two tokens.");
        perToken = seconds("vllm:request_time_per_output_token_seconds", "Mean time between the tokens of a request.");
        latency = seconds("vllm:e2e_request_latency_seconds", "Time from submission to the end.");
        queue = seconds("vllm:request_queue_time_seconds", "Time from tokenization to admission.");
        prefill = seconds("vllm:request_prefill_time_seconds", "Time from admission to the first token.");
        decode = seconds("vllm:request_decode_time_seconds", "Time from the first token to the last.");
        inference = seconds("vllm:request_inference_time_seconds", "Time from admission to the last token.");
        grammarCompile = seconds(
                "roseinfer:grammar_compile_seconds",
                "Time to compile a request's grammar, or to find it in the cache.");
        grammarMask = seconds(
                "roseinfer:grammar_mask_seconds",
                "Time to compute the mask of a token, and the masks of fixed tokens after it.");
        grammars = Counter.builder()
                .name("roseinfer:grammars")
                .help("Requests restricted to a grammar, by the field that gives it.")
                .labelNames(MODEL, ENGINE, "field")
                .register(registry);
        for (String field : GRAMMARS_FROM_THE_START) {
            grammars.initLabelValues(model, together(), field);
        }
        toolCalls = Counter.builder()
                .name("roseinfer:tool_calls")
                .help("Complete tool calls in responses.")
                .labelNames(MODEL, ENGINE)
                .register(registry)
                .labelValues(model, together());
        calls = Counter.builder()
                .name("http_requests")
                .help("HTTP requests by path, method and status class; unknown paths share one label.")
                .labelNames("handler", "method", "status")
                .register(registry);
        errors = Counter.builder()
                .name("roseinfer:http_errors")
                .help("HTTP responses with status 400 or more, by status.")
                .labelNames(MODEL, ENGINE, "status")
                .register(registry);
        for (int status : ERRORS_FROM_THE_START) {
            errors.initLabelValues(model, together(), String.valueOf(status));
        }
    }

    private DistributionDataPoint seconds(String name, String help) {
        return histogram(name, help, SECONDS);
    }

    /** Returns the label of what is counted for all replicas together. */
    private String together() {
        return replicas == 1 ? "0" : ALL;
    }

    private DistributionDataPoint histogram(String name, String help, double... edges) {
        return histograms(name, help, edges).labelValues(model, together());
    }

    private Histogram histograms(String name, String help, double... edges) {
        return Histogram.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL, ENGINE)
                .classicOnly()
                .classicUpperBounds(edges)
                .register(registry);
    }

    /** Returns the observers that the engine is to be opened with. */
    public Observers observers() {
        return Observers.ofRequests(inFlight)
                .and(Observers.ofRequests(grammars()))
                .and(Observers.ofStepsOfEach(this::steps));
    }

    private RequestObserver grammars() {
        return new RequestObserver() {
            @Override
            public void on(RequestEvent event) {}

            @Override
            public void maskComputed(ObservedRequest request, long nanos) {
                grammarMask.observe(nanos / 1e9);
            }
        };
    }

    private StepObserver steps(int replica) {
        DistributionDataPoint tokens = stepTokens[replica];
        AtomicLongArray accepted = acceptedAt[replica];
        return (event, step) -> {
            if (event == StepEvent.APPLIED) {
                tokens.observe((double) step.get(Fact.TOKENS));
                addAccepted(step, accepted);
            }
        };
    }

    private static void addAccepted(StepRecord step, AtomicLongArray accepted) {
        for (int i = 0; i < StepRecord.DRAFT_POSITIONS && step.acceptedAt(i) > 0; i++) {
            accepted.addAndGet(i, step.acceptedAt(i));
        }
    }

    /**
     * Counts a grammar that was compiled, or found in the cache.
     *
     * @param field the request's field that gives it
     */
    void grammarCompiled(String field, long nanos) {
        grammars.labelValues(model, together(), field).inc();
        grammarCompile.observe(nanos / 1e9);
    }

    /** Counts complete tool calls of a response. */
    void toolCalls(int count) {
        toolCalls.inc(count);
    }

    /** Returns the requests in flight. */
    RequestsInFlight inFlight() {
        return inFlight;
    }

    /** Registers metrics that are computed from the engine, the server and its process at each scrape. */
    void attach(Engine engine, String version, IntSupplier connections, LongSupplier rejectedConnections) {
        ProcessState.register(registry, version);
        replicaGauge("vllm:num_requests_running", "Requests that hold KV blocks.", engine, EngineStats::active);
        attachWaiting(engine);
        replicaGauge(
                "vllm:kv_cache_usage_perc",
                "Share of the KV blocks in use, 0 to 1.",
                engine,
                stats -> (double) stats.blocksInUse() / stats.kv().blocks());
        replicaCounter("vllm:num_preemptions", "Preempted requests.", engine, Fact.PREEMPTIONS);
        counter(
                "vllm:prompt_tokens",
                "Prompt tokens.",
                engine,
                stats -> stats.requests().promptTokens());
        counter(
                "vllm:prefix_cache_queries",
                "Prompt tokens submitted, as the base of the hit rate.",
                engine,
                stats -> stats.requests().promptTokens());
        replicaCounter(
                "vllm:prefix_cache_hits", "Prompt tokens found in the prefix cache.", engine, Fact.CACHED_TOKENS);
        replicaCounter("vllm:spec_decode_num_drafts", "Decode rows that carried draft tokens.", engine, Fact.DRAFTS);
        replicaCounter("vllm:spec_decode_num_draft_tokens", "Draft tokens.", engine, Fact.DRAFT_TOKENS);
        replicaCounter("vllm:spec_decode_num_accepted_tokens", "Accepted draft tokens.", engine, Fact.ACCEPTED_TOKENS);
        attachAccepted();
        counter("vllm:generation_tokens", "Tokens generated.", engine, stats -> inFlight.generatedTokens());
        counter(
                "vllm:http_requests_client_disconnected",
                "Clients that disconnected early.",
                engine,
                stats -> disconnected.sum());
        gauge("roseinfer:connections", "Open connections.", engine, stats -> connections.getAsInt());
        counter(
                "roseinfer:connections_rejected",
                "Connections rejected because the maximum were open; probes are not counted.",
                engine,
                stats -> rejectedConnections.getAsLong());
        attachCache(engine);
        attachFinished(engine);
        attachDeadlines(engine);
        attachHealth(engine);
    }

    private void attachAccepted() {
        CounterWithCallback.builder()
                .name("vllm:spec_decode_num_accepted_tokens_per_pos")
                .help("Accepted draft tokens by their position in the draft, from 0; without positions never accepted.")
                .labelNames(MODEL, ENGINE, "position")
                .callback(to -> {
                    for (int replica = 0; replica < replicas; replica++) {
                        AtomicLongArray accepted = acceptedAt[replica];
                        for (int i = 0; i < accepted.length() && (i == 0 || accepted.get(i) > 0); i++) {
                            to.call((double) accepted.get(i), model, String.valueOf(replica), String.valueOf(i));
                        }
                    }
                })
                .register(registry);
    }

    private void attachWaiting(Engine engine) {
        GaugeWithCallback.builder()
                .name("vllm:num_requests_waiting")
                .help("Requests waiting for admission.")
                .labelNames(MODEL, ENGINE)
                .callback(to -> {
                    List<EngineStats> each = engine.replicaStats();
                    int elsewhere = engine.stats().waiting();
                    for (int i = 0; i < each.size(); i++) {
                        to.call(each.get(i).waiting(), model, String.valueOf(i));
                        elsewhere -= each.get(i).waiting();
                    }
                    if (replicas > 1) {
                        to.call(Math.max(0, elsewhere), model, SHARED);
                    }
                })
                .register(registry);
    }

    private void attachHealth(Engine engine) {
        GaugeWithCallback.builder()
                .name("roseinfer:engine_up")
                .help("Whether a replica serves: 1, or 0 once it has failed.")
                .labelNames(MODEL, ENGINE)
                .callback(to -> {
                    for (int i = 0; i < replicas; i++) {
                        to.call(engine.failure(i).isEmpty() ? 1 : 0, model, String.valueOf(i));
                    }
                })
                .register(registry);
    }

    private void attachCache(Engine engine) {
        GaugeWithCallback.builder()
                .name("vllm:cache_config_info")
                .help("The KV pool.")
                .labelNames(MODEL, ENGINE, "block_size", "num_gpu_blocks")
                .callback(to -> {
                    List<EngineStats> each = engine.replicaStats();
                    for (int i = 0; i < each.size(); i++) {
                        to.call(
                                1,
                                model,
                                String.valueOf(i),
                                String.valueOf(each.get(i).kv().blockSize()),
                                String.valueOf(each.get(i).kv().blocks()));
                    }
                })
                .register(registry);
    }

    private void attachFinished(Engine engine) {
        CounterWithCallback.builder()
                .name("vllm:request_success")
                .help("Finished requests by reason.")
                .labelNames(MODEL, ENGINE, ENDED)
                .callback(to -> {
                    Map<FinishReason, Long> ended = engine.stats().requests().ended();
                    Map<String, Double> counts = new TreeMap<>();
                    ended.forEach((why, count) ->
                            counts.merge(CompletionJson.finishReason(why), count.doubleValue(), Double::sum));
                    counts.forEach((why, count) -> to.call(count, model, together(), why));
                })
                .register(registry);
    }

    private void attachDeadlines(Engine engine) {
        counter(
                "roseinfer:requests_timed_out",
                "Requests ended by their timeout, part of the finished reason abort.",
                engine,
                stats -> stats.requests().ended().getOrDefault(FinishReason.DEADLINE, 0L));
    }

    private void replicaGauge(String name, String help, Engine engine, ToDoubleFunction<EngineStats> value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL, ENGINE)
                .callback(to -> eachReplica(engine, value, to::call))
                .register(registry);
    }

    /** Registers a counter per replica of a fact of its steps. */
    private void replicaCounter(String name, String help, Engine engine, Fact count) {
        CounterWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL, ENGINE)
                .callback(to -> eachReplica(engine, stats -> stats.total(count), to::call))
                .register(registry);
    }

    /** Receives a value and its labels. */
    @FunctionalInterface
    private interface Sink {
        void call(double value, String... labels);
    }

    private void eachReplica(Engine engine, ToDoubleFunction<EngineStats> value, Sink to) {
        List<EngineStats> each = engine.replicaStats();
        for (int i = 0; i < each.size(); i++) {
            to.call(value.applyAsDouble(each.get(i)), model, String.valueOf(i));
        }
    }

    private void gauge(String name, String help, Engine engine, ToDoubleFunction<EngineStats> value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL, ENGINE)
                .callback(to -> to.call(value.applyAsDouble(engine.stats()), model, together()))
                .register(registry);
    }

    private void counter(String name, String help, Engine engine, ToDoubleFunction<EngineStats> value) {
        CounterWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL, ENGINE)
                .callback(to -> to.call(value.applyAsDouble(engine.stats()), model, together()))
                .register(registry);
    }

    /** Records the parameters of a call. */
    void asked(int tokens, int n) {
        maxTokens.observe(tokens);
        choices.observe(n);
    }

    /** Records the tokens of ended requests. */
    void takeEnded() {
        inFlight.takeEnded(this::observeTokens);
    }

    private void observeTokens(RequestTimeline timeline, int from) {
        long[] tokens = timeline.tokenNanos();
        if (from == 0) {
            observe(ttft, timeline.submittedNanos(), tokens[0]);
        }
        for (int i = Math.max(1, from); i < tokens.length; i++) {
            observe(interToken, tokens[i - 1], tokens[i]);
        }
    }

    /** Records that all requests of a call have ended. */
    void answered(List<Completion> all) {
        longestCompletion.observe(all.stream()
                .mapToInt(completion -> completion.tokens().size())
                .max()
                .orElse(0));
    }

    /** Records a completed request. */
    void completed(Completion completion) {
        RequestTimeline timeline = completion.timeline();
        long[] tokens = timeline.tokenNanos();
        promptTokens.observe(completion.promptIds().length);
        completionTokens.observe(tokens.length);
        observe(latency, timeline.submittedNanos(), timeline.finishedNanos());
        observe(queue, timeline.tokenizedNanos(), timeline.admittedNanos());
        if (tokens.length == 0) {
            return;
        }
        long last = tokens[tokens.length - 1];
        observe(prefill, timeline.admittedNanos(), tokens[0]);
        observe(decode, tokens[0], last);
        observe(inference, timeline.admittedNanos(), last);
        timeline.tokenTimes().tpotNanos().ifPresent(nanos -> perToken.observe(nanos / 1e9));
    }

    private static void observe(DistributionDataPoint histogram, long startNanos, long endNanos) {
        histogram.observe((endNanos - startNanos) / 1e9);
    }

    /** Records a finished HTTP call. */
    void called(String handler, String method, int status) {
        if (status == Api.CLIENT_GONE) {
            disconnected.increment();
        }
        calls.labelValues(handler, method, status / 100 + "xx").inc();
        if (status >= FIRST_ERROR && !Api.SUPERVISED.contains(handler)) {
            errors.labelValues(model, together(), String.valueOf(status)).inc();
        }
    }

    /** Handles {@code GET /metrics}. */
    Reply scrape(Exchange exchange) {
        inFlight.takeAll(this::observeTokens);
        PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            writer.write(text, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written to without fail", e);
        }
        return exchange.reply(200, writer.getContentType(), text.toByteArray());
    }
}
