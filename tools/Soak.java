import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/**
 * Puts load on a server and measures its process: resident memory every second, time to the first token, and leaks after every client
 * has disconnected. {@code tools/soak} starts both.
 */
final class Soak {
    /** The kind of a client's request. */
    private enum Kind {
        STREAM,
        STREAM_LEFT,
        WHOLE,
        WHOLE_LEFT,
        WRONG,
        OTHER
    }

    /** Number of windows that summarize samples, after the first fifth of the time, in which the JVM compiles. */
    private static final int WINDOWS = 10;

    /**
     * Maximum growth of live objects after the first fifth of the time. The heap has a fixed size, so a leak in it does not show in
     * resident memory; a hundred bytes for every token of ten minutes are ten times this.
     */
    private static final double MAX_GROWTH_MEBIBYTES = 4;

    /** Student's t for 95 % and two parameters less than windows. */
    private static final double T = 2.306;

    private static final String[] WORDS = {"once", "upon", "a", "time", "the", "sea", "lily", "apple", "story", "night"
    };
    private static final String[] OTHERS = {"/metrics", "/health", "/v1/models", "/debug/requests"};

    private record First(double atSeconds, double millis) {}

    private record Memory(double atSeconds, double mebibytes) {}

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String url;
    private final long pid;
    private final double seconds;
    private final long startNanos = System.nanoTime();
    private final Map<Kind, LongAdder> done = new EnumMap<>(Kind.class);
    private final List<String> errors = Collections.synchronizedList(new ArrayList<>());
    private final List<First> firsts = Collections.synchronizedList(new ArrayList<>());
    private final List<Memory> memory = new ArrayList<>();
    private double liveMebibytes;

    private Soak(String url, long pid, double seconds) {
        this.url = url;
        this.pid = pid;
        this.seconds = seconds;
        for (Kind kind : Kind.values()) {
            done.put(kind, new LongAdder());
        }
    }

    public static void main(String[] args) throws Exception {
        Soak soak = new Soak(args[0], Long.parseLong(args[1]), Double.parseDouble(args[2]) * 60);
        soak.run(Integer.parseInt(args[3]), Long.parseLong(args[4]));
        System.exit(soak.report() ? 0 : 1);
    }

    private double now() {
        return (System.nanoTime() - startNanos) / 1e9;
    }

    private void run(int clients, long seed) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            Random random = new Random(seed * 1000 + client);
            threads.add(Thread.ofVirtual().start(() -> client(random)));
        }
        boolean warm = false;
        while (now() < seconds) {
            Thread.sleep(1000);
            memory.add(new Memory(now(), residentMebibytes()));
            if (!warm && now() > seconds / 5) {
                warm = true;
                liveMebibytes = liveMebibytes();
                System.out.printf(Locale.ROOT, "live objects after the first fifth: %.1f MiB%n", liveMebibytes);
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void client(Random random) {
        while (now() < seconds) {
            Kind kind = kind(random.nextInt(100));
            try {
                call(kind, random);
                done.get(kind).increment();
                Thread.sleep(random.nextInt(200));
            } catch (IOException | RuntimeException e) {
                errors.add(kind + ": " + e);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static Kind kind(int percent) {
        return percent < 50
                ? Kind.STREAM
                : percent < 70
                        ? Kind.STREAM_LEFT
                        : percent < 85
                                ? Kind.WHOLE
                                : percent < 90 ? Kind.WHOLE_LEFT : percent < 95 ? Kind.WRONG : Kind.OTHER;
    }

    private void call(Kind kind, Random random) throws IOException, InterruptedException {
        switch (kind) {
            case STREAM -> stream(random, Integer.MAX_VALUE);
            case STREAM_LEFT -> stream(random, 1 + random.nextInt(20));
            case WHOLE -> expect(200, post(body(random, false)));
            case WHOLE_LEFT -> leave(random);
            case WRONG -> expect(400, post("{\"prompt\":\"" + prompt(random) + "\",\"temperature\":-1}"));
            case OTHER ->
                expect(
                        200,
                        HttpRequest.newBuilder(URI.create(url + OTHERS[random.nextInt(OTHERS.length)]))
                                .build());
        }
    }

    private static String prompt(Random random) {
        StringBuilder prompt = new StringBuilder();
        for (int word = 1 + random.nextInt(40); word > 0; word--) {
            prompt.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
        }
        return prompt + "x";
    }

    private static String body(Random random, boolean stream) {
        return "{\"prompt\":\"" + prompt(random) + "\",\"max_tokens\":" + (1 + random.nextInt(60)) + ",\"seed\":"
                + random.nextInt(1000) + ",\"ignore_eos\":true,\"stream\":" + stream
                + (random.nextInt(4) == 0 ? ",\"logprobs\":2" : "")
                + (random.nextInt(4) == 0 ? ",\"stop\":\"night\"" : "")
                + (random.nextInt(8) == 0 ? ",\"n\":2" : "") + "}";
    }

    private HttpRequest post(String body) {
        return HttpRequest.newBuilder(URI.create(url + "/v1/completions"))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    private void expect(int status, HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
        if (answer.statusCode() != status) {
            throw new IOException("status " + answer.statusCode() + " instead of " + status + ": " + answer.body());
        }
    }

    /** Reads a stream to its end, or disconnects after a number of events. */
    private void stream(Random random, int events) throws IOException, InterruptedException {
        long sentNanos = System.nanoTime();
        HttpResponse<InputStream> answer = http.send(post(body(random, true)), BodyHandlers.ofInputStream());
        String last = "";
        int seen = 0;
        try (BufferedReader in = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null && seen < events; line = in.readLine()) {
                if (!line.isEmpty()) {
                    last = line;
                    if (seen++ == 0) {
                        firsts.add(new First(now(), (System.nanoTime() - sentNanos) / 1e6));
                    }
                }
            }
        }
        if (answer.statusCode() != 200 || (events == Integer.MAX_VALUE && !last.equals("data: [DONE]"))) {
            throw new IOException("status " + answer.statusCode() + ", ends with " + last);
        }
    }

    private void leave(Random random) throws InterruptedException {
        CompletableFuture<HttpResponse<String>> answer =
                http.sendAsync(post(body(random, false)), BodyHandlers.ofString());
        Thread.sleep(random.nextInt(30));
        answer.cancel(true);
    }

    private double residentMebibytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElseThrow();
    }

    /** Returns the bytes of live objects, after a garbage collection. */
    private double liveMebibytes() throws IOException {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(pid),
                        "GC.class_histogram")
                .start();
        List<String> lines = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        return Double.parseDouble(lines.getLast().strip().split("\\s+")[2]) / (1 << 20);
    }

    private double metric(String name) throws IOException, InterruptedException {
        String text = http.send(
                        HttpRequest.newBuilder(URI.create(url + "/metrics")).build(), BodyHandlers.ofString())
                .body();
        return text.lines()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow();
    }

    /** Prints the results and returns whether they are within bounds. */
    private boolean report() throws IOException, InterruptedException {
        done.forEach(
                (kind, count) -> System.out.printf("%-12s %d%n", kind.name().toLowerCase(Locale.ROOT), count.sum()));
        System.out.println("errors       " + errors.size());
        errors.stream().limit(5).forEach(error -> System.out.println("  " + error));
        for (int half = 0; half < 2; half++) {
            double from = seconds * (half == 0 ? 0.2 : 0.6);
            double to = seconds * (half == 0 ? 0.6 : 1);
            double[] sorted = firsts.stream()
                    .filter(first -> first.atSeconds() >= from && first.atSeconds() < to)
                    .mapToDouble(First::millis)
                    .sorted()
                    .toArray();
            System.out.printf(
                    Locale.ROOT,
                    "TTFT from %.0f s to %.0f s: p50 %.1f ms, p99 %.1f ms, %d streams%n",
                    from,
                    to,
                    sorted[sorted.length / 2],
                    sorted[sorted.length * 99 / 100],
                    sorted.length);
        }
        printMemory();
        double liveAtEnd = liveMebibytes();
        System.out.printf(Locale.ROOT, "live objects at the end: %.1f MiB%n", liveAtEnd);
        double running = metric("vllm:num_requests_running");
        for (int wait = 0; wait < 100 && running > 0; wait++) {
            Thread.sleep(50);
            running = metric("vllm:num_requests_running");
        }
        double blocks = metric("vllm:kv_cache_usage_perc");
        System.out.printf(Locale.ROOT, "left: %.0f requests running, %.3f of the KV pool in use%n", running, blocks);
        boolean grown = liveAtEnd > liveMebibytes + MAX_GROWTH_MEBIBYTES;
        return errors.isEmpty() && running == 0 && blocks == 0 && !grown;
    }

    /** Fits a line to the means of the windows by least squares, with an interval of its slope. */
    private void printMemory() {
        double[] x = new double[WINDOWS];
        double[] y = new double[WINDOWS];
        for (int window = 0; window < WINDOWS; window++) {
            double from = seconds * (0.2 + 0.8 * window / WINDOWS);
            double to = seconds * (0.2 + 0.8 * (window + 1) / WINDOWS);
            x[window] = (from + to) / 2;
            y[window] = memory.stream()
                    .filter(sample -> sample.atSeconds() >= from && sample.atSeconds() < to)
                    .mapToDouble(Memory::mebibytes)
                    .average()
                    .orElseThrow();
        }
        double meanX = Arrays.stream(x).average().orElseThrow();
        double meanY = Arrays.stream(y).average().orElseThrow();
        double squares = 0;
        double products = 0;
        for (int i = 0; i < WINDOWS; i++) {
            squares += (x[i] - meanX) * (x[i] - meanX);
            products += (x[i] - meanX) * (y[i] - meanY);
        }
        double slope = products / squares;
        double residual = 0;
        for (int i = 0; i < WINDOWS; i++) {
            double off = y[i] - meanY - slope * (x[i] - meanX);
            residual += off * off;
        }
        double error = T * Math.sqrt(residual / (WINDOWS - 2) / squares);
        System.out.printf(
                Locale.ROOT,
                "resident: %.1f MiB in the first window, %.1f in the last; slope %+.2f ± %.2f MiB per minute (95 %%)%n",
                y[0],
                y[WINDOWS - 1],
                slope * 60,
                error * 60);
    }
}
