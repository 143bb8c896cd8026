package io.roseinfer.server;

import com.sun.management.UnixOperatingSystemMXBean;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.tokenizer.Tokenizer;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the cost of HTTP with an engine that computes nothing. First the time to the first token of one stream, over
 * HTTP and in process, interleaved; then streamed completions with several numbers of streams; then the time until a
 * disconnect is detected. Clients run in the same process and share its cores. Arguments: numbers of streams, such as
 * {@code 1 64 512}.
 */
final class ServerLoad {
    private static final int TOKENS = 32;
    private static final int WARM_UP = 1500;
    private static final int SINGLE = 400;
    private static final int LEAVES = 40;
    private static final int CUTS = 10_000;
    private static final long STEP_NANOS = 1_000_000;
    private static final long WINDOW_NANOS = 3_000_000_000L;
    private static final String PROMPT = "Once upon a time there was";
    private static final String BODY = body(TOKENS);

    /** Nearly as many as fit in the context after the prompt. */
    private static final int LONG_TOKENS = 500;

    private static final String LONG_BODY = body(LONG_TOKENS);

    private static final Clock CLOCK = Clock.system();

    private ServerLoad() {}

    private static String body(int tokens) {
        return "{\"prompt\":\"" + PROMPT + "\",\"max_tokens\":" + tokens
                + ",\"ignore_eos\":true,\"temperature\":0,\"stream\":true}";
    }

    public static void main(String[] args) throws Exception {
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder().maxBatchSize(1024).build())
                .withKvBlocks(40_960);
        try (TestServer server =
                new TestServer(options, SimOptions.defaults().withReadBack(false), TestServer.options())) {
            try (RawClient client = server.client()) {
                for (int i = 0; i < WARM_UP; i++) {
                    call(client, BODY);
                    inProcess(server);
                }
                firstToken(server, client);
            }
            for (String streams : args) {
                throughput(server, Integer.parseInt(streams));
            }
        }
        SimOptions slow = SimOptions.defaults().withOnStep(step -> LockSupport.parkNanos(STEP_NANOS));
        try (TestServer server = new TestServer(options, slow, TestServer.options())) {
            for (boolean stream : new boolean[] {true, false}) {
                leaving(server, stream, false);
                leaving(server, stream, true);
            }
        }
        try (TestServer server = new TestServer(options, SimOptions.defaults(), TestServer.options())) {
            cut(server, CUTS / 10);
            long descriptors = descriptors();
            int threads = ManagementFactory.getThreadMXBean().getThreadCount();
            cut(server, CUTS);
            System.out.printf(
                    Locale.ROOT,
                    "%d connections cut anywhere: %d blocks in use, %d connections, %d descriptors and %d threads more than before%n",
                    CUTS,
                    server.engine.stats().blocksInUse(),
                    server.server.connections(),
                    descriptors() - descriptors,
                    ManagementFactory.getThreadMXBean().getThreadCount() - threads);
        }
    }

    private static long descriptors() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }

    /** Requests truncated at any byte or complete, sometimes with changed bytes, closed by FIN or RST at any moment. */
    private static void cut(TestServer server, int connections) throws IOException {
        Random random = new Random(20_261_122);
        byte[] whole = RawClient.post("/v1/completions", BODY).getBytes(StandardCharsets.UTF_8);
        Deque<RawClient> open = new ArrayDeque<>();
        for (int i = 0; i < connections; i++) {
            byte[] request = Arrays.copyOf(whole, random.nextBoolean() ? whole.length : random.nextInt(whole.length));
            if (random.nextInt(10) == 0 && request.length > 0) {
                request[random.nextInt(request.length)] = (byte) random.nextInt();
            }
            open.add(server.client().send(request));
            while (open.size() > random.nextInt(200)) {
                RawClient leaving = open.remove();
                if (random.nextBoolean()) {
                    leaving.reset();
                } else {
                    leaving.close();
                }
            }
        }
        for (RawClient client : open) {
            client.close();
        }
        while (server.server.connections() > 0) {
            Thread.onSpinWait();
        }
        server.awaitIdle();
    }

    /** The time from a disconnect until its blocks are free; the completion would take half a second longer. */
    private static void leaving(TestServer server, boolean stream, boolean reset) throws IOException {
        String body = "{\"prompt\":\"a\",\"max_tokens\":500,\"ignore_eos\":true,\"stream\":" + stream + "}";
        long[] nanos = new long[LEAVES];
        for (int i = 0; i < LEAVES; i++) {
            RawClient client = server.client();
            client.send(RawClient.post("/v1/completions", body));
            while (server.engine.stats().blocksInUse() < 2) {
                Thread.onSpinWait();
            }
            long begin = CLOCK.nanos();
            if (reset) {
                client.reset();
            } else {
                client.close();
            }
            server.awaitIdle();
            nanos[i] = CLOCK.nanos() - begin;
        }
        Arrays.sort(nanos);
        System.out.printf(
                Locale.ROOT,
                "a client leaves by %s, %s: blocks free after %.1f ms, p50, and %.1f ms at most%n",
                reset ? "RST" : "FIN",
                stream ? "streamed" : "whole",
                nanos[LEAVES / 2] / 1e6,
                nanos[LEAVES - 1] / 1e6);
    }

    private static void call(RawClient client, String request) throws IOException {
        String body = client.call(RawClient.post("/v1/completions", request)).body();
        if (!body.endsWith("data: [DONE]\n\n")) {
            throw new AssertionError("not a whole answer: " + body);
        }
    }

    private static long inProcess(TestServer server) {
        Tokenizer words = TestServer.WORDS;
        long begin = CLOCK.nanos();
        GenerationRequest request = GenerationRequest.of(new Prompt.Tokens(words.encode(PROMPT)))
                .withMaxNewTokens(TOKENS)
                .withIgnoreEndOfText(true);
        try (TokenStream stream = server.engine.submit(request)) {
            stream.next();
            long first = CLOCK.nanos() - begin;
            stream.completion();
            return first;
        }
    }

    private static void firstToken(TestServer server, RawClient client) throws IOException {
        long[] http = new long[SINGLE];
        long[] direct = new long[SINGLE];
        for (int i = 0; i < SINGLE; i++) {
            long begin = CLOCK.nanos();
            client.send(RawClient.post("/v1/completions", BODY)).head();
            client.line();
            client.line();
            http[i] = CLOCK.nanos() - begin;
            String rest = "";
            while (!rest.equals("0")) {
                rest = client.line();
            }
            client.line();
            direct[i] = inProcess(server);
        }
        Arrays.sort(http);
        Arrays.sort(direct);
        for (double share : new double[] {0.5, 0.99}) {
            int at = (int) (share * SINGLE);
            System.out.printf(
                    Locale.ROOT,
                    "first token, 1 stream, p%.0f: %.0f us over HTTP, %.0f us in process, %.0f us more%n",
                    100 * share,
                    http[at] / 1e3,
                    direct[at] / 1e3,
                    (http[at] - direct[at]) / 1e3);
        }
    }

    private static void throughput(TestServer server, int streams) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        List<Thread> clients = new ArrayList<>();
        long begin = CLOCK.nanos();
        for (int i = 0; i < streams; i++) {
            clients.add(Thread.ofVirtual().start(() -> {
                try (RawClient client = server.client()) {
                    while (CLOCK.nanos() - begin < WINDOW_NANOS) {
                        call(client, LONG_BODY);
                        calls.incrementAndGet();
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }));
        }
        for (Thread client : clients) {
            client.join();
        }
        double seconds = (CLOCK.nanos() - begin) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "%d streams: %.0f requests/s, %.0f tokens/s of %d tokens a request%n",
                streams,
                calls.get() / seconds,
                (long) calls.get() * LONG_TOKENS / seconds,
                LONG_TOKENS);
    }
}
