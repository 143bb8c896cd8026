package io.roseinfer.server;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** A server on loopback in front of a simulated model with a real vocabulary. */
final class TestServer implements AutoCloseable {
    static final String MODEL = "sim";
    static final Instant NOW = Instant.ofEpochSecond(1_800_000_000);

    private static final LoadedModel TINY =
            Roseinfer.load(Settings.of("builtin:tiny").withDevice(Settings.Device.SIM), new DownloadListener() {
                @Override
                public void progress(String file, long bytesSoFar, long totalBytes) {}

                @Override
                public void warning(String message) {}
            });

    static final ModelSpec SPEC = TINY.spec();
    static final Tokenizer WORDS = TINY.tokenizer().orElseThrow();

    /** The offset of the server's clock from the machine's, and of its time from {@link #NOW}. */
    final AtomicLong aheadNanos = new AtomicLong();

    final Engine engine;
    final Server server;
    final List<String> log = new CopyOnWriteArrayList<>();

    TestServer(EngineOptions options, SimOptions sim, ServerOptions asked) {
        this(options, sim, asked, Optional.of(WORDS));
    }

    TestServer(EngineOptions options, SimOptions sim, ServerOptions asked, Optional<Tokenizer> words) {
        this(options, asked, words, RoutingPolicy.pull(), List.of(runner(options, sim)), AccessLog.Format.JSON);
    }

    /** Starts a server with several replicas, each with its own device. */
    TestServer(EngineOptions options, ServerOptions asked, RoutingPolicy routing, List<SimOptions> devices) {
        this(
                options,
                asked,
                Optional.of(WORDS),
                routing,
                devices.stream().map(sim -> runner(options, sim)).toList(),
                AccessLog.Format.JSON);
    }

    /** Starts a server whose model gives these replies, one per request. */
    static TestServer scripted(ServedModel model, Tokenizer words, String... replies) {
        EngineOptions options = engineOptions();
        List<int[]> ids = Stream.of(replies).map(words::encode).toList();
        ScriptedRunner runner = new ScriptedRunner(
                runner(options, SimOptions.defaults()), ids, words.endOfText().orElseThrow());
        return new TestServer(
                options,
                options().withModel(model),
                Optional.of(words),
                RoutingPolicy.pull(),
                List.of(runner),
                AccessLog.Format.JSON);
    }

    private static SimRunner runner(EngineOptions options, SimOptions sim) {
        return new SimRunner(SPEC, EngineLimits.runnerLimits(options, SPEC), sim);
    }

    private TestServer(
            EngineOptions options,
            ServerOptions asked,
            Optional<Tokenizer> words,
            RoutingPolicy routing,
            List<? extends ModelRunner> runners,
            AccessLog.Format format) {
        this(options, asked, words, routing, runners, format, Observers.NONE);
    }

    private TestServer(
            EngineOptions options,
            ServerOptions asked,
            Optional<Tokenizer> words,
            RoutingPolicy routing,
            List<? extends ModelRunner> runners,
            AccessLog.Format format,
            Observers observers) {
        ServerMetrics metrics = new ServerMetrics(MODEL, runners.size());
        Clock clock = () -> Clock.system().nanos() + aheadNanos.get();
        engine = Engine.open(
                runners, words, options, routing, clock, metrics.observers().and(observers));
        InstantSource time = () -> NOW.plusNanos(aheadNanos.get());
        AccessLog lines = new AccessLog(format, log::add, clock, time);
        server = Server.start(engine, asked, metrics, lines, clock, time);
    }

    static TestServer start() {
        return new TestServer(engineOptions(), SimOptions.defaults(), options());
    }

    /** Starts a server whose engine has observers in addition to the metrics, called after them. */
    static TestServer observed(Observers observers) {
        EngineOptions options = engineOptions();
        return new TestServer(
                options,
                options(),
                Optional.of(WORDS),
                RoutingPolicy.pull(),
                List.of(runner(options, SimOptions.defaults())),
                AccessLog.Format.JSON,
                observers);
    }

    /** Starts a server with an access log in the given format. */
    static TestServer logging(AccessLog.Format format, SimOptions sim) {
        return logging(format, engineOptions(), sim);
    }

    static TestServer logging(AccessLog.Format format, EngineOptions options, SimOptions sim) {
        return new TestServer(
                options, options(), Optional.of(WORDS), RoutingPolicy.pull(), List.of(runner(options, sim)), format);
    }

    /** Starts a server with the chat template of the built-in model. */
    static TestServer startChat() {
        return startChat(SimOptions.defaults());
    }

    /** The chat template of the built-in model. */
    static Optional<ChatTemplate> chat() {
        return TINY.chat();
    }

    static TestServer startChat(SimOptions sim) {
        ServedModel model = ServedModel.named(MODEL).withChat(chat());
        return new TestServer(engineOptions(), sim, options().withModel(model));
    }

    static TestServer start(SimOptions sim) {
        return new TestServer(engineOptions(), sim, options());
    }

    static EngineOptions engineOptions() {
        return EngineOptions.defaults().withKvBlocks(256);
    }

    static ServerOptions options() {
        return ServerOptions.of(MODEL, "1.2.3");
    }

    InetSocketAddress address() {
        return server.address();
    }

    RawClient client() throws IOException {
        return new RawClient(address());
    }

    /** Sends one call on a new connection. */
    Answer get(String path, String... headers) throws IOException {
        try (RawClient client = client()) {
            return client.call("GET " + path + " HTTP/1.1\r\nHost: test\r\n" + String.join("", headers) + "\r\n");
        }
    }

    /** Sends one call on a new connection. */
    Answer post(String path, String body, String... headers) throws IOException {
        try (RawClient client = client()) {
            return client.call(RawClient.post(path, body, headers));
        }
    }

    Answer complete(String body, String... headers) throws IOException {
        return post("/v1/completions", body, headers);
    }

    static JsonNode json(Answer answer) {
        return json(answer.body());
    }

    static JsonNode json(String text) {
        return StrictJson.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The data of the events, including {@code [DONE]}. */
    static List<String> events(String body) {
        List<String> events = new ArrayList<>();
        for (String event : body.split("\n\n")) {
            if (!event.startsWith("data: ")) {
                throw new AssertionError("not an event: " + event);
            }
            events.add(event.substring("data: ".length()));
        }
        return events;
    }

    /** Waits until no request is in flight or queued. */
    void awaitIdle() {
        while (engine.stats().blocksInUse() > 0
                || engine.stats().active() > 0
                || engine.stats().waiting() > 0) {
            Thread.onSpinWait();
        }
    }

    /** Waits until the given number of requests has ended, in any way. */
    void awaitEnded(long count) {
        while (engine.stats().requests().ended().values().stream()
                        .mapToLong(Long::longValue)
                        .sum()
                < count) {
            Thread.onSpinWait();
        }
    }

    double metric(String line) throws IOException {
        return get("/metrics")
                .body()
                .lines()
                .filter(each -> each.startsWith(line))
                .mapToDouble(each -> Double.parseDouble(each.substring(each.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no metric " + line));
    }

    @Override
    public void close() {
        server.close();
        engine.close();
    }
}
