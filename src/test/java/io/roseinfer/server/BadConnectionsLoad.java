package io.roseinfer.server;

import com.sun.management.UnixOperatingSystemMXBean;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.server.http.RawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the effect of ten thousand bad clients on good ones, in interleaved windows with and without a thousand bad
 * connections. A bad client sends a truncated request and stalls, a request with a changed byte, or a flood of
 * nonsense; it reads nothing, and closes by FIN or RST at any moment. All clients run in the server's process and share
 * its cores.
 */
final class BadConnectionsLoad {
    private static final int GOOD = 4;
    private static final int WINDOWS = 20;
    private static final int BAD_PER_WINDOW = 1000;
    private static final int MAX_OPEN = 200;
    private static final int FLOOD_BYTES = 64 << 10;
    private static final long WINDOW_NANOS = 1_000_000_000L;
    private static final long STEP_NANOS = 1_000_000;
    private static final String BODY =
            "{\"prompt\":\"Once upon a time\",\"max_tokens\":16,\"ignore_eos\":true,\"stream\":true}";
    private static final byte[] REQUEST =
            RawClient.post("/v1/completions", BODY).getBytes(StandardCharsets.UTF_8);
    private static final Clock CLOCK = Clock.system();
    private static final UnixOperatingSystemMXBean MACHINE =
            (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private BadConnectionsLoad() {}

    /** The measurements of a good client, in nanoseconds. */
    private record Latency(boolean besideBad, long firstToken, long whole) {}

    public static void main(String[] args) throws Exception {
        SimOptions steps = SimOptions.defaults().withOnStep(step -> LockSupport.parkNanos(STEP_NANOS));
        // Room in the batch for all clients: a request with a changed byte may be served like any other.
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder().maxBatchSize(1024).build())
                .withKvBlocks(40_960);
        try (TestServer server = new TestServer(options, steps, TestServer.options())) {
            List<Latency> warmUp = window(server, new Random(1), true);
            int threads = threads(server);
            long descriptors = descriptors();
            List<Latency> all = new ArrayList<>();
            long[] processorNanos = new long[2];
            for (int window = 0; window < WINDOWS; window++) {
                // With, without, without, with: drift affects both equally.
                boolean bad = window % 4 == 0 || window % 4 == 3;
                long before = MACHINE.getProcessCpuTime();
                all.addAll(window(server, new Random(window), bad));
                processorNanos[bad ? 1 : 0] += MACHINE.getProcessCpuTime() - before;
            }
            System.out.printf("%d calls to warm up%n", warmUp.size());
            for (boolean bad : new boolean[] {false, true}) {
                print(bad, all.stream().filter(one -> one.besideBad() == bad).toList());
            }
            System.out.printf(
                    Locale.ROOT,
                    "processor time, clients' included: %.2f and %.2f cores%n",
                    2.0 * processorNanos[0] / WINDOWS / WINDOW_NANOS,
                    2.0 * processorNanos[1] / WINDOWS / WINDOW_NANOS);
            System.out.printf(
                    "left: %d blocks in use, %d connections, %d threads and %d descriptors more than before%n",
                    server.engine.stats().blocksInUse(),
                    server.server.connections(),
                    threads(server) - threads,
                    descriptors() - descriptors);
        }
    }

    private static int threads(TestServer server) {
        while (server.server.connections() > 0) {
            Thread.onSpinWait();
        }
        server.awaitIdle();
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static long descriptors() {
        return MACHINE.getOpenFileDescriptorCount();
    }

    private static List<Latency> window(TestServer server, Random random, boolean bad) throws Exception {
        long end = CLOCK.nanos() + WINDOW_NANOS;
        List<Latency> latencies = new ArrayList<>();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < GOOD; i++) {
            clients.add(Thread.ofPlatform().start(() -> {
                List<Latency> own = good(server, end, bad);
                synchronized (latencies) {
                    latencies.addAll(own);
                }
            }));
        }
        if (bad) {
            bad(server, random, end);
        }
        for (Thread client : clients) {
            client.join();
        }
        return latencies;
    }

    private static List<Latency> good(TestServer server, long end, boolean bad) {
        List<Latency> latencies = new ArrayList<>();
        try (RawClient client = server.client()) {
            while (CLOCK.nanos() < end) {
                long begin = CLOCK.nanos();
                client.send(REQUEST).head();
                client.line();
                client.line();
                long first = CLOCK.nanos();
                String line = "";
                while (!line.equals("0")) {
                    line = client.line();
                }
                client.line();
                latencies.add(new Latency(bad, first - begin, CLOCK.nanos() - begin));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return latencies;
    }

    private static void bad(TestServer server, Random random, long end) throws IOException {
        long begin = CLOCK.nanos();
        Deque<RawClient> open = new ArrayDeque<>();
        for (int i = 0; i < BAD_PER_WINDOW; i++) {
            long due = begin + (end - begin) * i / BAD_PER_WINDOW;
            while (CLOCK.nanos() < due) {
                LockSupport.parkNanos(due - CLOCK.nanos());
            }
            RawClient client = server.client();
            open.add(client);
            send(client, random);
            while (open.size() > random.nextInt(MAX_OPEN)) {
                leave(open.remove(), random);
            }
        }
        while (!open.isEmpty()) {
            leave(open.remove(), random);
        }
    }

    private static void send(RawClient client, Random random) throws IOException {
        byte[] request = REQUEST.clone();
        switch (random.nextInt(4)) {
            case 0 -> request[random.nextInt(request.length)] = (byte) random.nextInt();
            case 1 -> {
                request = new byte[FLOOD_BYTES];
                random.nextBytes(request);
            }
            default -> request = Arrays.copyOf(request, random.nextInt(request.length));
        }
        try {
            client.send(request);
        } catch (IOException cut) {
            // Closed by the server, because of the flood.
        }
    }

    private static void leave(RawClient client, Random random) throws IOException {
        if (random.nextBoolean()) {
            client.reset();
        } else {
            client.close();
        }
    }

    private static void print(boolean bad, List<Latency> latencies) {
        long[] first =
                latencies.stream().mapToLong(Latency::firstToken).sorted().toArray();
        long[] whole = latencies.stream().mapToLong(Latency::whole).sorted().toArray();
        System.out.printf(
                Locale.ROOT,
                "%s: %d calls; first token p50 %.2f ms, p99 %.2f ms; whole p50 %.1f ms, p99 %.1f ms%n",
                bad ? "with " + BAD_PER_WINDOW * WINDOWS / 2 + " bad connections" : "alone",
                first.length,
                first[first.length / 2] / 1e6,
                first[first.length * 99 / 100] / 1e6,
                whole[whole.length / 2] / 1e6,
                whole[whole.length * 99 / 100] / 1e6);
    }
}
