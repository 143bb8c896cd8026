package io.roseinfer.bench.replicas;

import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.http.EngineTarget;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.metrics.Summary;
import io.roseinfer.observe.Observers;
import io.roseinfer.server.AccessLog;
import io.roseinfer.server.Server;
import io.roseinfer.server.ServerMetrics;
import io.roseinfer.server.ServerOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Measures how throughput grows with the number of replicas, in process and over HTTP, and what the failure of a replica costs. Models are
 * loaded once; every case has an engine of its own. Prints a line per case, and writes all results to a folder. Started by
 * {@code tools/replicas}, which explains the arguments.
 */
final class ReplicaScaling {
    private static final String ENGINE = "in process";
    private static final String HTTP = "HTTP";
    private static final String PULL = "pull";
    private static final Duration SILENCE = Duration.ofSeconds(60);

    /** Replica that fails, and the number of steps that it runs before. */
    private static final int FAILING = 1;

    private static final int DEFAULT_LIMIT_SECONDS = 390;
    private static final long SIMULATED_STEP_NANOS = 2_000_000;
    private static final Clock CLOCK = Clock.system();
    private static final GenerationRequest TEMPLATE =
            GenerationRequest.ofTokens(0).withIgnoreEndOfText(true);

    /** A combination to measure. */
    private record Case(ScaledLoad load, String path, String routing, int replicas) {
        private String baseline() {
            return load.name() + "/" + path;
        }

        private String fileName() {
            return String.join("-", load.name(), path, routing, String.valueOf(replicas))
                    .replace(' ', '_');
        }
    }

    /**
     * The result of a case.
     *
     * @param tokensPerSecond median of the runs
     * @param runs tokens per second of each run
     * @param ratio the median relative to one replica; 0 if that was not measured
     * @param shares percentage of the requests that each replica served, over all runs
     * @param routerNanos duration of a routing decision, with the hashes of the prompt's prefixes if the policy uses them
     * @param host what the median run took of this process
     */
    private record Row(
            String load,
            String path,
            String routing,
            int replicas,
            double tokensPerSecond,
            List<Double> runs,
            double ratio,
            List<Double> shares,
            Summary routerNanos,
            Measured.Host host) {}

    /**
     * The result of a case in which a replica failed.
     *
     * @param completed requests that completed
     * @param failedWithTokens requests that failed after they had tokens
     * @param failedWithoutTokens requests that failed without a token, which must not happen
     * @param servedAfterwards whether the engine served another request afterwards
     * @param longestGapMillis longest time between two tokens of a completed request
     */
    private record Failure(
            String load,
            String path,
            String routing,
            int replicas,
            int failedAfterSteps,
            int completed,
            int failedWithTokens,
            int failedWithoutTokens,
            boolean servedAfterwards,
            double longestGapMillis) {
        private boolean isAsPromised() {
            return failedWithoutTokens == 0 && failedWithTokens > 0 && servedAfterwards;
        }
    }

    private final Path folder;
    private final ClientProcess client;
    private final long endNanos;
    private final String devices;
    private final boolean simulated;
    /** Whether to measure only enough to see that everything works. */
    private final boolean brief;

    private final int count;
    private final List<String> routings;
    private final Map<String, Double> baselines = new HashMap<>();
    private final List<Row> rows = new ArrayList<>();
    private final List<Failure> failures = new ArrayList<>();
    private final List<String> omitted = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();

    private ReplicaScaling(Path folder, int limitSeconds, String devices, int count, List<String> routings) {
        this.folder = folder;
        this.client = new ClientProcess(folder);
        this.endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(limitSeconds);
        this.devices = devices;
        this.simulated = devices.startsWith("sim");
        this.brief = devices.equals("sim");
        this.count = count;
        this.routings = routings;
    }

    public static void main(String[] args) throws Exception {
        String devices = args.length > 0 ? args[0] : "cuda:0,cuda:1,cuda:2,cuda:3";
        Path folder = Files.createDirectories(Path.of(args.length > 1 ? args[1] : "replicas-results"));
        int limitSeconds = args.length > 2 ? Integer.parseInt(args[2]) : DEFAULT_LIMIT_SECONDS;
        List<String> routings = List.of((args.length > 3 ? args[3] : "pull,least-tokens,prefix").split(","));
        boolean simulated = devices.startsWith("sim");
        List<Integer> gpus = simulated
                ? List.of()
                : Stream.of(devices.split(","))
                        .map(device -> Integer.valueOf(device.replaceFirst("^cuda:", "")))
                        .toList();
        int count = simulated ? 4 : gpus.size();
        ReplicaScaling scaling = new ReplicaScaling(folder, limitSeconds, devices, count, routings);
        if (!simulated) {
            scaling.attempt("bench streaming", scaling::commandLine);
        }
        List<Replicas> loaded = new ArrayList<>();
        try {
            if (simulated) {
                long micros = devices.contains(":") ? Long.parseLong(devices.replaceFirst("^sim:", "")) : 0;
                loaded.add(Replicas.simulated(
                        micros > 0 ? ScaledLoad.post044() : ScaledLoad.simulated(),
                        count,
                        micros > 0 ? TimeUnit.MICROSECONDS.toNanos(micros) : SIMULATED_STEP_NANOS));
            } else {
                loaded.add(Replicas.onGpus(ScaledLoad.post044(), gpus));
                loaded.add(Replicas.onGpus(ScaledLoad.qwen(), gpus));
            }
            scaling.measure(loaded);
        } finally {
            loaded.forEach(Replicas::close);
        }
        System.exit(scaling.finish());
    }

    private void measure(List<Replicas> loaded) {
        System.out.printf(
                "%-11s %-11s %-13s %8s %9s %6s  %-24s %18s %10s %6s %7s%n",
                "load",
                "path",
                "routing",
                "replicas",
                "tokens/s",
                "ratio",
                "requests per replica, %",
                "router p50/p99 ns",
                "submit us",
                "cores",
                "waits %");
        for (Replicas replicas : loaded) {
            attempt("warm-up", () -> warmUp(replicas));
        }
        for (Replicas replicas : loaded) {
            for (String path : List.of(ENGINE, HTTP)) {
                measure(replicas, path, PULL, 1);
                if (count > 1) {
                    measure(replicas, path, routings.getFirst(), count);
                }
            }
        }
        if (count == 1) {
            return;
        }
        for (String path : List.of(ENGINE, HTTP)) {
            if (!isLate("failure-" + path)) {
                attempt(
                        "failure-" + path,
                        () -> fail(loaded.getFirst(), path, path.equals(ENGINE) ? "least-tokens" : PULL));
            }
        }
        for (int some : new TreeSet<>(List.of(count, Math.min(2, count))).descendingSet()) {
            for (String path : List.of(ENGINE, HTTP)) {
                for (Replicas replicas : loaded) {
                    for (String routing : routings) {
                        if (some < count || !routing.equals(routings.getFirst())) {
                            measure(replicas, path, routing, some);
                        }
                    }
                }
            }
        }
    }

    private boolean isLate(String what) {
        if (System.nanoTime() < endNanos) {
            return false;
        }
        omitted.add(what);
        return true;
    }

    /** Runs the load on all replicas, in process and over HTTP, until the code is compiled. */
    private void warmUp(Replicas replicas) throws Exception {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(brief ? 300 : 4000);
        for (int run = 0; System.nanoTime() < until; run++) {
            try (Engine engine = open(replicas, RoutingPolicy.pull(), count, Observers.NONE, false)) {
                Measured unused = inProcess(engine, replicas.load().offered(count, -1 - run));
            }
        }
        if (!brief) {
            OfferedLoad offered = replicas.load().offered(count, -1);
            int before = 2 * offered.requests().size();
            serve(replicas, RoutingPolicy.pull(), count, false, (engine, address) -> {
                Measured unused = client.send(offered, address, "warm-up", before);
            });
        }
    }

    private static Engine open(
            Replicas replicas, RoutingPolicy routing, int count, Observers observers, boolean limitsActive) {
        EngineOptions options = replicas.load().options(routing.usesPrefixes());
        if (limitsActive) {
            options = options.withScheduler(options.scheduler().toBuilder()
                    .maxActiveRequests(replicas.load().requests())
                    .build());
        }
        return Engine.open(
                replicas.runners().subList(0, count), replicas.tokenizer(), options, routing, CLOCK, observers);
    }

    private static Measured inProcess(Engine engine, OfferedLoad offered) {
        try (EngineTarget target = new EngineTarget(engine, TEMPLATE, false, CLOCK)) {
            return Measured.of(new LoadRun(target, LoadRun.UNBOUNDED, SILENCE, CLOCK).run(offered), engine.replicas());
        }
    }

    private static RoutingPolicy policy(String name) {
        return switch (name) {
            case PULL -> RoutingPolicy.pull();
            case "least-tokens" -> RoutingPolicy.leastTokens();
            case "prefix" -> RoutingPolicy.prefix();
            case "round-robin" -> RoutingPolicy.roundRobin();
            default ->
                throw new IllegalArgumentException(
                        "unknown routing policy " + name + "; it must be pull, least-tokens, prefix or round-robin");
        };
    }

    /** Something that uses a server. */
    @FunctionalInterface
    private interface Use {
        void of(Engine engine, InetSocketAddress address) throws Exception;
    }

    private void serve(Replicas replicas, RoutingPolicy routing, int count, boolean limitsActive, Use use)
            throws Exception {
        String model = replicas.load().model();
        ServerMetrics metrics = new ServerMetrics(model, count);
        try (Engine engine = open(replicas, routing, count, metrics.observers(), limitsActive);
                Server server = Server.start(
                        engine,
                        ServerOptions.of(model, "replicas"),
                        metrics,
                        AccessLog.off(),
                        CLOCK,
                        InstantSource.system())) {
            use.of(engine, server.address());
        }
    }

    /** Something that can fail without an effect on other cases. */
    @FunctionalInterface
    private interface Attempt {
        void run() throws Exception;
    }

    private void attempt(String what, Attempt attempt) {
        try {
            attempt.run();
        } catch (Exception e) {
            errors.add(what + ": " + e);
            System.out.println("failed: " + errors.getLast());
        }
    }

    private void measure(Replicas replicas, String path, String routing, int some) {
        Case now = new Case(replicas.load(), path, routing, some);
        boolean isExtra = brief && path.equals(HTTP) && (some < count || !routing.equals(routings.getFirst()));
        if (isExtra || isLate(now.fileName())) {
            return;
        }
        attempt(now.fileName(), () -> measure(replicas, now));
    }

    private void measure(Replicas replicas, Case now) throws Exception {
        int some = now.replicas();
        TimedRouting timed = new TimedRouting(policy(now.routing()));
        List<Measured> measured = new ArrayList<>();
        if (now.path().equals(ENGINE)) {
            for (int run = 0; run < runs(now); run++) {
                try (Engine engine = open(replicas, timed, some, Observers.NONE, false)) {
                    measured.add(inProcess(engine, now.load().offered(some, run)));
                }
            }
        } else {
            serve(replicas, timed, some, false, (engine, address) -> {
                for (int run = 0; run < runs(now); run++) {
                    OfferedLoad offered = now.load().offered(some, run);
                    measured.add(client.send(
                            offered,
                            address,
                            now.fileName() + "-" + run,
                            now.load().clientWarmUps() * offered.requests().size()));
                }
            });
        }
        add(now, measured, router(timed, now.load()));
    }

    private int runs(Case now) {
        if (brief) {
            return 1;
        }
        if (now.path().equals(ENGINE)) {
            return now.load().promptTokens() > 0 ? 3 : 5;
        }
        boolean matters = now.routing().equals(PULL) && (now.replicas() == 1 || now.replicas() == count);
        return matters ? 3 : 1;
    }

    private void add(Case now, List<Measured> measured, Summary router) throws IOException {
        List<Double> each = measured.stream().map(Measured::tokensPerSecond).toList();
        double median = median(each);
        if (now.replicas() == 1) {
            baselines.put(now.baseline(), median);
        }
        Measured typical = measured.stream()
                .min(Comparator.comparingDouble(run -> Math.abs(run.tokensPerSecond() - median)))
                .orElseThrow();
        Measured all = new Measured(
                measured.stream().mapToDouble(Measured::seconds).sum(),
                measured.stream().flatMap(run -> run.requests().stream()).toList(),
                typical.host());
        if (!all.failed().isEmpty()) {
            throw new IllegalStateException(now.fileName() + ": " + all.failed().size() + " requests failed, one with "
                    + all.failed().getFirst());
        }
        Row row = new Row(
                now.load().name(),
                now.path(),
                now.replicas() == 1 ? "-" : now.routing(),
                now.replicas(),
                median,
                each,
                baselines.containsKey(now.baseline()) ? median / baselines.get(now.baseline()) : 0,
                all.shares(now.replicas()),
                router,
                all.host());
        rows.add(row);
        System.out.printf(
                Locale.ROOT,
                "%-11s %-11s %-13s %8d %9.0f %6.2f  %-24s %18s %10s %6s %7s%n",
                row.load(),
                row.path(),
                row.routing(),
                row.replicas(),
                row.tokensPerSecond(),
                row.ratio(),
                row.shares().stream()
                        .map(share -> String.format(Locale.ROOT, "%.1f", share))
                        .collect(Collectors.joining(" ")),
                String.format(Locale.ROOT, "%.0f / %.0f", router.p50(), router.p99()),
                known(row.host().submitMicros(), "%.1f"),
                known(row.host().cores(), "%.1f"),
                known(100 * row.host().waitShare(), "%.0f"));
        System.out.flush();
        write();
    }

    private static String known(double value, String format) {
        return value == 0 ? "-" : String.format(Locale.ROOT, format, value);
    }

    private static double median(List<Double> values) {
        return Summary.of(values.stream().mapToDouble(Double::doubleValue).toArray())
                .p50();
    }

    /** Returns the duration of a routing decision: the choice, and for some policies the hashes of the prompt. */
    private static Summary router(TimedRouting timed, ScaledLoad load) {
        Summary choice = timed.nanos();
        if (!timed.usesPrefixes()) {
            return choice;
        }
        List<int[]> prompts = load.offered(1, 0).requests().stream()
                .map(OfferedRequest::prompt)
                .flatMap(prompt -> prompt instanceof Prompt.Tokens tokens ? Stream.of(tokens.ids()) : Stream.empty())
                .toList();
        if (prompts.isEmpty()) {
            return choice;
        }
        double[] hash = new double[prompts.size()];
        int hashes = 0;
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < hash.length; i++) {
                long startNanos = System.nanoTime();
                hashes += PublishedPrefixes.prefixHashes(
                                prompts.get(i), EngineOptions.defaults().blockSize())
                        .length;
                hash[i] = System.nanoTime() - startNanos;
            }
        }
        Summary hashing = Summary.of(hash);
        return new Summary(
                hashes > 0 ? choice.count() : 0,
                choice.p50() + hashing.p50(),
                choice.p95() + hashing.p95(),
                choice.p99() + hashing.p99(),
                choice.mean() + hashing.mean(),
                choice.max() + hashing.max());
    }

    /** Runs two waves of a load, and makes a replica fail in the first. */
    private void fail(Replicas replicas, String path, String routing) throws Exception {
        ScaledLoad load = replicas.load();
        int steps = load.newTokens() * 2 / 5;
        OfferedLoad offered = load.offered(2 * count, 0);
        List<Measured> run = new ArrayList<>();
        List<Boolean> served = new ArrayList<>();
        Use use = (engine, address) -> {
            FailingRunner failing = replicas.runners().get(FAILING);
            failing.failAfter(steps);
            try {
                run.add(
                        path.equals(ENGINE)
                                ? inProcess(engine, offered)
                                : client.send(offered, address, "failure-HTTP", 0));
            } finally {
                failing.failAfter(-1);
            }
            boolean alone =
                    IntStream.range(0, count).allMatch(i -> engine.failure(i).isPresent() == (i == FAILING));
            served.add(alone
                    && engine.generate(TEMPLATE.withMaxNewTokens(8)).tokens().size() == 8);
        };
        if (path.equals(ENGINE)) {
            try (Engine engine = open(replicas, policy(routing), count, Observers.NONE, true)) {
                use.of(engine, new InetSocketAddress(0));
            }
        } else {
            serve(replicas, policy(routing), count, true, use);
        }
        Measured measured = run.getFirst();
        int without = (int) measured.failed().stream()
                .filter(request -> request.tokens() == 0)
                .count();
        Failure failure = new Failure(
                load.name(),
                path,
                routing,
                count,
                steps,
                measured.completed().size(),
                measured.failed().size() - without,
                without,
                served.getFirst(),
                measured.longestGapMillis());
        failures.add(failure);
        System.out.printf(
                Locale.ROOT,
                "%-11s %-11s %-13s %8d  replica %d failed after %d steps: %d requests complete, %d failed with tokens,"
                        + " %d without; the others %s, longest gap %.1f ms%n",
                load.name(),
                path,
                routing,
                count,
                FAILING,
                steps,
                failure.completed(),
                failure.failedWithTokens(),
                without,
                failure.servedAfterwards() ? "serve on" : "DO NOT SERVE",
                failure.longestGapMillis());
        System.out.flush();
        write();
    }

    /** Runs post 044's load by the command itself, which loads the model on all GPUs. */
    private void commandLine() throws IOException, InterruptedException {
        ScaledLoad load = ScaledLoad.post044();
        int code = client.command(
                "bench_streaming",
                List.of(
                        "bench",
                        "streaming",
                        "--model",
                        load.model(),
                        "--device",
                        devices,
                        "--prompt",
                        "Hello",
                        "--unique-prompts",
                        "--num-requests",
                        String.valueOf(load.requests() * count),
                        "--max-new-tokens",
                        String.valueOf(load.newTokens()),
                        "--max-batch-size",
                        String.valueOf(load.requests()),
                        "--submit-interval-ms",
                        "0",
                        "--no-stop-on-eos",
                        "--no-prefix-cache",
                        "--repeat-runs",
                        "5"));
        String output = Files.readString(folder.resolve("bench_streaming.log"));
        System.out.printf("bench streaming --device %s: exit %d%n", devices, code);
        output.lines().filter(line -> line.startsWith("Throughput")).forEach(line -> System.out.println("  " + line));
    }

    private void write() throws IOException {
        Map<String, Object> all = Map.of(
                "commit",
                System.getProperty("roseinfer.commit", "unknown"),
                "devices",
                devices,
                "cases",
                rows,
                "failures",
                failures,
                "omitted",
                omitted,
                "errors",
                errors);
        Files.writeString(
                folder.resolve("results.json"),
                StrictJson.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(all));
    }

    /** Prints what was required and whether it was met; returns the exit code. */
    private int finish() throws IOException {
        write();
        boolean met = !failures.isEmpty() && failures.stream().allMatch(Failure::isAsPromised);
        System.out.println("requests without tokens survive the failure of a replica: " + word(met));
        if (!simulated && count == 4) {
            met &= required(ENGINE, 3.9);
            met &= required(HTTP, 3.7);
        }
        double router = rows.stream()
                .filter(row -> row.replicas() > 1)
                .mapToDouble(row -> row.routerNanos().p50())
                .max()
                .orElse(0);
        boolean fast = router <= 2000;
        System.out.printf(Locale.ROOT, "router at most 2000 ns per request: %.0f, %s%n", router, word(fast));
        if (!omitted.isEmpty()) {
            System.out.println("not run for lack of time: " + String.join(", ", omitted));
        }
        return met && errors.isEmpty() && (fast || simulated) ? 0 : 1;
    }

    private boolean required(String path, double ratio) {
        boolean met = true;
        for (Row row : rows) {
            if (row.path().equals(path) && row.replicas() == count) {
                boolean enough = row.ratio() >= ratio;
                met &= enough;
                System.out.printf(
                        Locale.ROOT,
                        "%s, %s, %s: %.2f times one replica, at least %.1f, %s%n",
                        row.load(),
                        path,
                        row.routing(),
                        row.ratio(),
                        ratio,
                        word(enough));
            }
        }
        return met;
    }

    private static String word(boolean met) {
        return met ? "met" : "MISSED";
    }
}
