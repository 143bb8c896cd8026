package io.roseinfer.cli.bench;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.Pacer;
import io.roseinfer.bench.http.ClientFloor;
import io.roseinfer.bench.http.Endpoint;
import io.roseinfer.bench.http.EngineTarget;
import io.roseinfer.bench.http.HttpTarget;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.http.NullServer;
import io.roseinfer.bench.http.Target;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ServeJson;
import io.roseinfer.bench.report.ServeReport;
import io.roseinfer.cli.flags.ArrivalFlags;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.DatasetFlags;
import io.roseinfer.cli.flags.DeliveryFlags;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.flags.GivenFlags;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.Ranges;
import io.roseinfer.cli.flags.SchedulerFlags;
import io.roseinfer.cli.flags.ServeResultFlags;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@picocli.CommandLine.Command(
        name = "serve",
        description = "Offer a load to a server of OpenAI's API, in an open loop, and report what a client saw.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nA run whose client was late, or whose server contradicts itself, ends with exit code 8.")
public final class BenchServeCommand implements Command {
    private static final int INVALID = 8;

    /** The readers' threads on a machine with so many cores each. */
    private static final int CORES_PER_READER = 4;

    private static final int MOST_READERS = 8;

    /** Flags of an engine in this process, which say nothing about a server elsewhere. */
    private static final Set<String> ENGINE_ONLY = Set.of(
            "device",
            "dtype",
            "threads",
            "offline",
            "paged_attn",
            "cuda_graph",
            "nvtx",
            "batch_invariant",
            "memory_plan",
            "max_inflight_requests",
            "stream_interval",
            "tokenize_workers",
            "max_batch_size",
            "prefill_max_batch_size",
            "prefill_max_tokens",
            "prefill_admission_policy",
            "prefill_admission_lookahead",
            "prefill_force_fifo_every",
            "decode_first",
            "max_active_requests",
            "no_prefix_cache",
            "chunked_prefill",
            "kv_blocks",
            "block_size");

    /** Tells the warm-up's prompts from the run's. */
    private static final long WARM_UP = 0x5741524d;

    @Mixin
    private EndpointFlags endpoint = new EndpointFlags();

    @Mixin
    private DatasetFlags dataset = new DatasetFlags();

    @Option(
            names = "--num-prompts",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Requests of the run; a file may have fewer.")
    private int numPrompts = 1000;

    @Mixin
    private ArrivalFlags arrivals = new ArrivalFlags();

    @Option(
            names = "--max-concurrency",
            paramLabel = "<C>",
            converter = Ranges.Positive.class,
            description = "Most requests in flight; those that are due wait (default: no limit).",
            showDefaultValue = Visibility.NEVER)
    private Optional<Integer> maxConcurrency = Optional.empty();

    @Option(names = "--seed", paramLabel = "<S>", description = "Seed of prompts and arrivals.")
    private long seed;

    @Option(
            names = {"--warmup-requests", "--num-warmups"},
            paramLabel = "<N>",
            converter = Ranges.NotNegative.class,
            description = "Requests before the run, of the same lengths and of another seed.")
    private int warmupRequests;

    @Option(
            names = "--stall-timeout-s",
            paramLabel = "<S>",
            converter = Ranges.Positive.class,
            description = "Requests in flight fail when nothing came for so long.")
    private int stallSeconds = 600;

    @Option(
            names = "--reader-threads",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Threads that read answers (default: one for every four cores).",
            showDefaultValue = Visibility.NEVER)
    private Optional<Integer> readerThreads = Optional.empty();

    @Mixin
    private ServeResultFlags results = new ServeResultFlags();

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Mixin
    private DeliveryFlags delivery = new DeliveryFlags();

    @Mixin
    private SchedulerFlags scheduler = new SchedulerFlags();

    /** What is the same whatever answers. */
    private record Plan(
            OfferedLoad load,
            Map<String, Long> data,
            ClientFloor floor,
            Optional<ResultFile> file,
            CommandSpec command,
            Terminal terminal) {}

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        Optional<ResultFile> file = results.file(arrivals.requestRate());
        Map<String, Double> unusedBounds = results.goodput();
        arrivals.requireConsistent(dataset.dataset().hasTimes(), command);
        DatasetFlags.Requests data =
                dataset.read(numPrompts, seed, arrivals.burstiness()).apply(Integer.MAX_VALUE);
        OfferedLoad load = arrivals.load(data, seed);
        if (!data.changes().isEmpty()) {
            terminal.note(data.changes());
        }
        ClientFloor floor = ClientFloor.measure(readers(), terminal.clock());
        Plan plan = new Plan(load, data.counts(), floor, file, command, terminal);
        return switch (endpoint.backend()) {
            case HTTP -> server(plan);
            case ENGINE -> engine(plan);
            case NULL -> {
                try (NullServer server = NullServer.start()) {
                    yield http(nullEndpoint(server), plan);
                }
            }
        };
    }

    private Endpoint nullEndpoint(NullServer server) {
        return new Endpoint(server.uri(), Endpoint.Kind.COMPLETIONS, "null", Optional.empty(), endpoint.ask());
    }

    private int server(Plan plan) {
        Terminal terminal = plan.terminal();
        Optional<String> key = Optional.ofNullable(terminal.environment().get("OPENAI_API_KEY"));
        URI base = Endpoint.uri(endpoint.baseUrl());
        String name = GivenFlags.has(plan.command(), "--model") ? model.model() : Endpoint.firstModel(base, key);
        return http(new Endpoint(base, endpoint.endpointType(), name, key, endpoint.ask()), plan);
    }

    private int http(Endpoint asked, Plan plan) {
        Environment environment = Machine.here().environment(plan.terminal());
        Map<String, @Nullable Object> settings = SettingsInForce.flags(plan.command());
        settings.keySet().removeAll(ENGINE_ONLY);
        long run = InstantSource.system().millis();
        try (HttpTarget target =
                new HttpTarget(asked, readers(), plan.terminal().clock(), "bench-" + Long.toHexString(run))) {
            return measure(target, asked.model(), settings, environment, plan);
        }
    }

    private int engine(Plan plan) {
        Terminal terminal = plan.terminal();
        EngineOptions options = delivery.addTo(scheduler.engineOptions(seed, terminal))
                .withMaxInflightRequests(
                        Math.max(EngineOptions.defaults().maxInflightRequests(), numPrompts + warmupRequests));
        try (LoadedModel loaded = model.load(options, terminal)) {
            loaded.warmUp(terminal.clock());
            ModelFlags.Features features = model.features(loaded, terminal);
            Map<String, @Nullable Object> settings =
                    new SettingsInForce(loaded, options).all(plan.command(), model, features);
            Environment environment = Machine.here().environment(loaded, terminal);
            try (Engine engine = loaded.serve(options, terminal.clock());
                    EngineTarget target = new EngineTarget(engine, endpoint.ask(), terminal.clock())) {
                return measure(target, model.model(), settings, environment, plan);
            }
        }
    }

    private int measure(
            Target target,
            String modelName,
            Map<String, @Nullable Object> settings,
            Environment environment,
            Plan plan) {
        Terminal terminal = plan.terminal();
        LoadRun run = new LoadRun(
                target,
                maxConcurrency.orElse(LoadRun.UNBOUNDED),
                Duration.ofSeconds(stallSeconds),
                terminal.clock(),
                Pacer.precise(terminal.clock()));
        if (warmupRequests > 0) {
            LoadResult unused = run.run(warmUp(plan.load()));
        }
        LoadResult result = run.run(plan.load());
        Verdict verdict =
                Verdict.of(result, results.mostLagMillis(), endpoint.ask().ignoreEos());
        terminal.print(new ServeReport(results.metrics(), results.percentiles(), results.goodput())
                .text(result, verdict, plan.floor()));
        ServeJson.About about = new ServeJson.About(
                head(modelName, result),
                arguments(plan.command()),
                settings,
                environment,
                results.percentiles(),
                results.goodput(),
                plan.data());
        plan.file()
                .ifPresent(to -> to.write(ServeJson.of(
                        result, verdict, plan.floor(), InstantSource.system().instant(), about)));
        verdict.reasons().forEach(reason -> terminal.note("the run does not count: " + reason));
        return verdict.isValid() ? 0 : INVALID;
    }

    /** As long as the run's first requests, and without an id in common with them. */
    private OfferedLoad warmUp(OfferedLoad load) {
        List<OfferedRequest> like = load.requests();
        List<OfferedRequest> requests = IntStream.range(0, warmupRequests)
                .mapToObj(i -> like.get(i % like.size()).withOtherIds(SplitMix64.at(seed ^ WARM_UP, i)))
                .toList();
        return new OfferedLoad(requests, false);
    }

    private Map<String, Object> head(String modelName, LoadResult result) {
        Map<String, Object> head = new LinkedHashMap<>();
        head.put("endpoint_type", Choices.word(endpoint.endpointType()));
        head.put("backend", Choices.word(endpoint.backend()));
        head.put("model_id", modelName);
        head.put("num_prompts", result.calls().size());
        double rate = arrivals.requestRate();
        head.put("request_rate", Double.isInfinite(rate) ? "inf" : (Object) rate);
        head.put("burstiness", Double.isInfinite(arrivals.burstiness()) ? "inf" : (Object) arrivals.burstiness());
        maxConcurrency.ifPresent(most -> head.put("max_concurrency", most));
        return head;
    }

    private static List<String> arguments(CommandSpec command) {
        return List.copyOf(command.root().commandLine().getParseResult().originalArgs());
    }

    private int readers() {
        int cores = Runtime.getRuntime().availableProcessors();
        return readerThreads.orElse(Math.clamp(cores / CORES_PER_READER, 1, MOST_READERS));
    }
}
