package io.roseinfer.cli.bench;

import io.roseinfer.bench.http.Endpoint;
import io.roseinfer.bench.http.HttpTarget;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.http.NullServer;
import io.roseinfer.bench.http.Target;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.ProgressBars;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.observe.Observers;
import java.net.URI;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;

/** A server, over HTTP. */
final class ServerUnderTest implements SystemUnderTest {
    private final Optional<NullServer> ours;
    private final Endpoint asked;
    private Optional<HttpTarget> target = Optional.empty();
    private final Terminal terminal;
    private final String model;
    private final OptionalInt contextLength;
    private final Map<String, @Nullable Object> settings;
    private final Environment environment;

    private ServerUnderTest(
            Endpoint asked,
            OptionalInt contextLength,
            Optional<NullServer> ours,
            ServeCommandLine line,
            Terminal terminal) {
        BenchServeFlags flags = line.flags();
        this.contextLength = contextLength;
        this.ours = ours;
        this.model = asked.model();
        this.settings = BackendFlags.inForce(SettingsInForce.flags(line.command()), line);
        settings.replace("base_url", flags.endpoint().baseUrl());
        settings.replace("endpoint_type", Choices.word(flags.endpoint().endpointType()));
        this.environment = Machine.here().environment(terminal);
        this.asked = asked;
        this.terminal = terminal;
    }

    /** Runs a load against a target, with a progress bar on a terminal. */
    static LoadResult run(String what, Target target, BenchServeFlags flags, OfferedLoad offered, Terminal terminal) {
        LoadRun run = new LoadRun(
                target, flags.maxConcurrency().orElse(LoadRun.UNBOUNDED), flags.patience(), terminal.clock());
        return watched(run, what, offered, terminal);
    }

    private static LoadResult watched(LoadRun run, String what, OfferedLoad load, Terminal terminal) {
        Optional<ProgressBar> bar = ProgressBars.open(terminal, what, load.size());
        try {
            return run.run(load, () -> bar.ifPresent(ProgressBar::step));
        } finally {
            bar.ifPresent(ProgressBar::close);
        }
    }

    /** Returns the server at {@code --base-url}. */
    static ServerUnderTest elsewhere(ServeCommandLine line, Terminal terminal) {
        EndpointFlags endpoint = line.flags().endpoint();
        Optional<String> key = Optional.ofNullable(terminal.environment().get("OPENAI_API_KEY"));
        URI base = Endpoint.uri(endpoint.baseUrl());
        // With --model, the server is not queried: it may not support /v1/models.
        Endpoint.ServedModel model = ExplicitFlags.has(line.command(), "--model")
                ? new Endpoint.ServedModel(line.flags().model().model(), OptionalInt.empty())
                : Endpoint.firstModel(base, key);
        return new ServerUnderTest(
                new Endpoint(base, endpoint.endpointType(), model.name(), key, endpoint.ask()),
                model.contextLength(),
                Optional.empty(),
                line,
                terminal);
    }

    /** Starts a server in this process that only writes. */
    static ServerUnderTest onlyWriting(ServeCommandLine line, Terminal terminal) {
        NullServer server = NullServer.start();
        Endpoint endpoint = new Endpoint(
                server.uri(),
                Endpoint.Kind.COMPLETIONS,
                "null",
                Optional.empty(),
                line.flags().endpoint().ask());
        return new ServerUnderTest(endpoint, OptionalInt.empty(), Optional.of(server), line, terminal);
    }

    @Override
    public LoadResult offer(BenchServeFlags flags, OfferedLoad offered, Observers none) {
        if (target.isEmpty()) {
            Endpoint accepted =
                    ours.isPresent() ? asked : asked.accepted(offered.requests().getFirst());
            asked.countsBeyond(accepted)
                    .forEach(field -> terminal.note("the server rejects " + field
                            + ", so requests do not have it; tokens are counted by what the server sends instead"));
            long run = InstantSource.system().millis();
            target = Optional.of(
                    new HttpTarget(accepted, flags.readers(), terminal.clock(), "bench-" + Long.toHexString(run)));
        }
        OfferedLoad warmUp = flags.warmUp(offered);
        if (!warmUp.requests().isEmpty()) {
            LoadResult unused = run("warmup", target.get(), flags, warmUp, terminal);
        }
        return run("run", target.get(), flags, offered, terminal);
    }

    @Override
    public OptionalInt contextLength() {
        return contextLength;
    }

    @Override
    public String model() {
        return model;
    }

    @Override
    public Map<String, @Nullable Object> settings() {
        return settings;
    }

    @Override
    public Environment environment() {
        return environment;
    }

    @Override
    public void close() {
        target.ifPresent(HttpTarget::close);
        ours.ifPresent(NullServer::close);
    }
}
