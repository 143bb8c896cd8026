package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.CustomObservers;
import io.roseinfer.cli.flags.GenerationConfigFlag;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.ObserveFlag;
import io.roseinfer.cli.flags.ReplyFlags;
import io.roseinfer.cli.flags.SchedulerFlags;
import io.roseinfer.cli.flags.ServeFlags;
import io.roseinfer.cli.terminal.LoggerMessages;
import io.roseinfer.cli.terminal.MessageFormat;
import io.roseinfer.cli.terminal.StopSignals;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.cli.terminal.Terminal.OutputClosed;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.server.AccessLog;
import io.roseinfer.server.Server;
import io.roseinfer.server.ServerMetrics;
import io.roseinfer.server.ServerOptions;
import io.roseinfer.server.ServerWarmUp;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.HttpServer;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;

@Command(
        name = "serve",
        description = "Serve a model over an OpenAI-compatible HTTP API until SIGTERM or Ctrl-C.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
final class ServeCommand implements io.roseinfer.cli.terminal.Command {
    /** Maximum warm-up time of the code between socket and engine; the model is warmed up separately. */
    private static final long MAX_WARM_UP_NANOS = 600_000_000;

    /** Steps kept for {@code /debug/steps}: 20 s of the fastest steps, 10 MB. */
    private static final int STEP_HISTORY = 1 << 16;

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Mixin
    private ReplyFlags replies = new ReplyFlags();

    @Mixin
    private GenerationConfigFlag generationConfig = new GenerationConfigFlag();

    @Mixin
    private ServeFlags server = new ServeFlags();

    @Mixin
    private SchedulerFlags scheduler = new SchedulerFlags();

    @Mixin
    private ObserveFlag observe = new ObserveFlag();

    @Override
    public MessageFormat format() {
        return server.accessLog() == AccessLog.Format.JSON ? MessageFormat.JSON : MessageFormat.TIMED_TEXT;
    }

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        LoggerMessages messages = LoggerMessages.open(terminal);
        try {
            return run(terminal);
        } finally {
            messages.close();
        }
    }

    private int run(Terminal terminal) {
        ServerOptions options = server.options(model.model(), RootCommand.VERSION, terminal);
        HttpServer.requireFree(options.host(), options.port());
        server.warn(options, terminal);
        EngineOptions engine =
                server.addTo(scheduler.engineOptions(0, terminal)).withStepHistory(STEP_HISTORY);
        model.requireTokenizer();
        try (CustomObservers observed = observe.open();
                LoadedModel loaded = model.load(engine, terminal)) {
            server.warnIfWithoutEffect(engine.scheduler().maxActiveRequests(), loaded.replicas(), terminal);
            ServedModel chat = options.model().withChat(loaded.chat());
            ServedModel served = replies.addTo(chat).withDefaults(generationConfig.of(loaded));
            warmUp(loaded, served, engine, terminal);
            return serve(loaded, engine, options.withModel(served), observed.observers(), terminal);
        }
    }

    private static void warmUp(LoadedModel loaded, ServedModel served, EngineOptions options, Terminal terminal) {
        long start = terminal.clock().nanos();
        loaded.warmUp(terminal.clock());
        try (Engine engine = loaded.serve(options, terminal.clock())) {
            ServerWarmUp.run(engine, served, MAX_WARM_UP_NANOS, terminal.clock(), InstantSource.system());
        }
        // Collect what loading and warming up left; otherwise the first collection under load would pause the engine
        // for it.
        System.gc();
        String took = String.format(
                Locale.ROOT, "warmed up in %.2f s", (terminal.clock().nanos() - start) / 1e9);
        terminal.note(
                loaded.isWarm()
                        ? took
                        : took
                                + ", but the kernels are not all compiled, since the CPU is busy; the first requests are slower");
    }

    private int serve(
            LoadedModel loaded,
            EngineOptions engineOptions,
            ServerOptions options,
            Observers observers,
            Terminal terminal) {
        ServerMetrics metrics = new ServerMetrics(options.modelName(), loaded.replicas());
        InstantSource time = InstantSource.system();
        AccessLog log = new AccessLog(server.accessLog(), line -> print(line, terminal), terminal.clock(), time);
        try (Engine engine = loaded.serve(
                        engineOptions, terminal.clock(), metrics.observers().and(observers));
                Server running = Server.start(engine, options, metrics, log, terminal.clock(), time)) {
            CompletableFuture<Optional<RuntimeException>> end = new CompletableFuture<>();
            CompletableFuture<Void> unused = running.failure().thenAccept(why -> end.complete(Optional.of(why)));
            StopSignals.Handled unusedHandled = StopSignals.handle(terminal, code -> end.complete(Optional.empty()));
            terminal.note(settings(loaded, engineOptions, options));
            printAddress(url(options.host(), running.address().getPort()), terminal);
            Optional<RuntimeException> failure = end.join();
            if (failure.isPresent()) {
                int unusedCount = running.drain(server.drain());
                throw failure.get();
            }
            drain(running, terminal);
            return 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 130;
        }
    }

    private static void printAddress(String url, Terminal terminal) {
        try {
            terminal.announce("Listening on " + url);
        } catch (OutputClosed cannot) {
            terminal.note("standard output cannot be written; listening on " + url);
        }
    }

    /** Returns one line of the settings that decide capacity. */
    private String settings(LoadedModel loaded, EngineOptions engine, ServerOptions options) {
        KvGeometry kv = loaded.runner().kv();
        int active = engine.scheduler().maxActiveRequests();
        String capacity = "KV blocks " + kv.blocks() + " of " + kv.blockSize() + " tokens, batch "
                + engine.scheduler().maxBatchSize()
                + (active == SchedulerOptions.UNLIMITED ? "" : ", active requests up to " + active);
        return "version " + options.version() + ", model " + options.modelName()
                + ", on " + loaded.deviceDescription()
                + loaded.precision()
                        .map(dtype -> ", dtype " + Choices.word(dtype))
                        .orElse("")
                + (loaded.replicas() == 1
                        ? ", " + capacity + ", "
                        : "; " + loaded.replicas() + " replicas, each with " + capacity + "; ")
                + server.limits();
    }

    private static void print(String line, Terminal terminal) {
        terminal.err().println(line);
        terminal.err().flush();
    }

    private void drain(Server running, Terminal terminal) throws InterruptedException {
        long seconds = server.drain().toSeconds();
        int inFlight = running.callsInFlight();
        terminal.note(
                inFlight == 0
                        ? "shutting down; no requests in flight"
                        : "shutting down; waiting up to " + seconds + " s (--drain-seconds) for requests in flight: "
                                + inFlight);
        int unfinished = running.drain(server.drain());
        if (unfinished > 0) {
            terminal.warning("shut down: " + unfinished + " of " + inFlight + " requests in flight were cut off after "
                    + seconds + " s");
        } else if (inFlight > 0) {
            terminal.note("shut down; all requests in flight have ended");
        }
    }

    private static String url(String host, int port) {
        return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
