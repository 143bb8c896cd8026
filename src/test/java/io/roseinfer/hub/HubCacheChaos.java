package io.roseinfer.hub;

import com.sun.net.httpserver.HttpExchange;
import io.roseinfer.safetensors.RawSafetensors;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Processes that download into one cache and are killed: two of roseinfer's and, if there are locks, one that behaves
 * like other tools. The server is slow, responds late, breaks connections, and does not always support ranges. After
 * each kill and each round, every file named by a hash must have it.
 *
 * <p>{@code main} takes the number of kills, {@code locks} or {@code no-locks}, and optionally a seed; it ends with a
 * verdict.
 */
final class HubCacheChaos implements AutoCloseable {
    private static final String WEIGHTS = "model.safetensors";
    private static final int PIECE_BYTES = 1 << 16;
    private static final int MAX_LATENCY_MILLIS = 1000;
    private static final int MAX_PAUSE_MILLIS = 20;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{40}|[0-9a-f]{64}");

    /** The outcome of the kills. */
    record Verdict(int rounds, int kills, int published, List<String> faults) {}

    private final Random random;
    private final boolean locks;
    private final Path root;
    private final FakeHub hub = new FakeHub(HubTestBase.ID.text());
    private final AtomicLong servedBytes = new AtomicLong();
    private final byte[] weights = RawSafetensors.floats(List.of("a", "b"), 150_000);

    HubCacheChaos(long seed, boolean locks, Path root) {
        this.random = new Random(seed);
        this.locks = locks;
        this.root = root;
        hub.file("config.json", HubTestBase.utf8("{}"));
        hub.file(WEIGHTS, weights);
        hub.replace("store", "GET", WEIGHTS, this::serveSlowly);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        PrintStream out = System.out;
        long seed = arguments.length > 2 ? Long.parseLong(arguments[2]) : System.nanoTime();
        out.println("seed " + seed);
        Path root = Files.createTempDirectory("roseinfer-chaos");
        Verdict verdict;
        try (HubCacheChaos chaos = new HubCacheChaos(seed, arguments[1].equals("locks"), root)) {
            verdict = chaos.run(Integer.parseInt(arguments[0]));
        }
        verdict.faults().forEach(out::println);
        out.println(verdict.kills() + " kills in " + verdict.rounds() + " rounds, " + verdict.published()
                + " blobs published: "
                + (verdict.faults().isEmpty()
                        ? "PASSED, each has its hash"
                        : "FAILED, faults: " + verdict.faults().size()));
        delete(root);
        System.exit(verdict.faults().isEmpty() ? 0 : 1);
    }

    private static void delete(Path root) throws IOException {
        try (Stream<Path> tree = Files.walk(root)) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    /** Runs rounds, each with its own cache, until the given number of processes has been killed. */
    Verdict run(int kills) throws IOException, InterruptedException {
        List<String> faults = new ArrayList<>();
        int rounds = 0;
        int killed = 0;
        int published = 0;
        while (killed < kills) {
            Path cache = Files.createDirectory(root.resolve("round-" + rounds++));
            killed += round(cache, Math.min(kills - killed, 1 + random.nextInt(4)), faults);
            published += blobs(cache).size();
        }
        return new Verdict(rounds, killed, published, faults);
    }

    private int round(Path cache, int kills, List<String> faults) throws IOException, InterruptedException {
        List<Process> running = new ArrayList<>();
        Map<Process, String> roles = new HashMap<>();
        int killed = 0;
        try {
            for (String role : locks ? List.of("ours", "ours", "other") : List.of("ours", "ours")) {
                start(role, cache, running, roles);
            }
            while (killed < kills && awaitBytes(random.nextLong(weights.length), running)) {
                Process victim = running.remove(random.nextInt(running.size()));
                victim.destroyForcibly().waitFor();
                killed++;
                check(cache, faults);
                if (random.nextInt(4) > 0) {
                    start(roles.getOrDefault(victim, ""), cache, running, roles);
                }
            }
            for (Process process : running) {
                if (!process.waitFor(PATIENCE)) {
                    faults.add(cache.getFileName() + ": a download did not end");
                }
            }
            check(cache, faults);
            return killed;
        } finally {
            running.forEach(Process::destroyForcibly);
        }
    }

    /** Waits until more bytes have been sent; returns false if no process is left. */
    private boolean awaitBytes(long bytes, List<Process> running) {
        long target = servedBytes.get() + bytes;
        while (servedBytes.get() < target) {
            running.removeIf(process -> !process.isAlive());
            if (running.isEmpty()) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        return !running.isEmpty();
    }

    private void start(String role, Path cache, List<Process> running, Map<Process, String> roles) throws IOException {
        URI hubOrStore = role.equals("ours") ? hub.endpoint() : hub.stored(WEIGHTS);
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        role.equals("ours") ? OurDownload.class.getName() : OtherToolDownload.class.getName(),
                        cache.toString(),
                        hubOrStore.toString(),
                        role.equals("ours") ? Boolean.toString(locks) : FakeHub.sha256(weights),
                        Integer.toString(weights.length))
                .redirectErrorStream(true)
                .redirectOutput(
                        cache.resolve("output-" + roles.size() + "-" + role).toFile())
                .start();
        running.add(process);
        roles.put(process, role);
    }

    private void check(Path cache, List<String> faults) throws IOException {
        for (Path blob : blobs(cache)) {
            Optional<Etag> etag = Etag.parse(blob.getFileName().toString());
            if (etag.isEmpty() || !etag.get().matches(blob)) {
                faults.add(cache.getFileName() + ": " + Files.size(blob) + " wrong bytes under the name "
                        + blob.getFileName());
            }
        }
    }

    private static List<Path> blobs(Path cache) throws IOException {
        Path blobs = cache.resolve(HubTestBase.ID.folderName()).resolve("blobs");
        if (!Files.isDirectory(blobs)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(blobs)) {
            return files.filter(
                            file -> HASH.matcher(file.getFileName().toString()).matches())
                    .toList();
        }
    }

    /** The store's response: in chunks, sometimes the whole file instead of a range, sometimes broken. */
    private void serveSlowly(HttpExchange exchange) throws IOException {
        boolean ours = "roseinfer".equals(exchange.getRequestHeaders().getFirst("User-Agent"));
        String range = exchange.getRequestHeaders().getFirst("Range");
        boolean supportsRange = range != null && (!ours || chance(5) > 0);
        int from = supportsRange ? Integer.parseInt(range.substring("bytes=".length(), range.length() - 1)) : 0;
        if (from >= weights.length) {
            exchange.sendResponseHeaders(416, -1);
            return;
        }
        if (supportsRange) {
            exchange.getResponseHeaders()
                    .set("Content-Range", "bytes " + from + "-" + (weights.length - 1) + "/" + weights.length);
        }
        // Late responses: another process may have finished the file before the first byte arrives.
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(chance(2) == 0 ? 0 : chance(MAX_LATENCY_MILLIS)));
        exchange.sendResponseHeaders(supportsRange ? 206 : 200, weights.length - from);
        int end = chance(4) == 0 ? from + chance(weights.length - from) : weights.length;
        for (int at = from; at < end; at += PIECE_BYTES) {
            int bytes = Math.min(PIECE_BYTES, end - at);
            exchange.getResponseBody().write(weights, at, bytes);
            exchange.getResponseBody().flush();
            servedBytes.addAndGet(bytes);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(chance(MAX_PAUSE_MILLIS)));
        }
    }

    private int chance(int bound) {
        synchronized (random) {
            return random.nextInt(bound);
        }
    }

    @Override
    public void close() {
        hub.close();
    }

    /** One of roseinfer's processes, with cache and hub, with or without locks. */
    static final class OurDownload {
        private OurDownload() {}

        public static void main(String[] arguments) {
            HubSettings settings =
                    HubTestBase.settings(Path.of(arguments[0]), URI.create(arguments[1]), Optional.empty(), Map.of());
            CacheVolume volume = Boolean.parseBoolean(arguments[2]) ? CacheVolume.REAL : new VolumeWithoutLocks();
            try (HubClient client =
                    new HubClient(settings, DownloadListener.SILENT, wait -> {}, HubTestBase.TIMEOUTS, volume)) {
                System.out.println(HubTestBase.download(client, HubTestBase.ID));
            }
        }
    }
}
