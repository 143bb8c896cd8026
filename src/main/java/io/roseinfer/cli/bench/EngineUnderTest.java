package io.roseinfer.cli.bench;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.bench.http.EngineTarget;
import io.roseinfer.bench.http.GrammarTimes;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.observe.Observers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** An engine in this process, without HTTP. The model is loaded once; every run has a new engine with an empty cache. */
final class EngineUnderTest implements SystemUnderTest {
    /** Steps kept per run; their records take 14 MB. */
    private static final int STEPS = 1 << 17;

    private final BenchServeFlags flags;
    private final EngineOptions options;
    private final LoadedModel loaded;
    private final Map<String, @Nullable Object> settings;
    private final Environment environment;
    private final Terminal terminal;

    private EngineUnderTest(ServeCommandLine line, EngineOptions options, LoadedModel loaded, Terminal terminal) {
        this.flags = line.flags();
        this.options = options;
        this.loaded = loaded;
        this.terminal = terminal;
        this.settings =
                BackendFlags.inForce(new SettingsInForce(loaded, options).all(line.command(), flags.model()), line);
        this.environment = Machine.here()
                .environment(loaded, terminal)
                .withPolicies(Machine.policies(options.scheduler().policies()))
                .withPolicies(Machine.policies(List.of(flags.model().routing())));
    }

    static EngineUnderTest load(ServeCommandLine line, Terminal terminal) {
        EngineOptions options = line.flags().engineOptions(terminal).withStepHistory(STEPS);
        LoadedModel loaded = line.flags().model().load(options, terminal);
        loaded.warmUp(terminal.clock());
        line.flags().fitLengths(line.command(), loaded.spec().contextLength()).ifPresent(terminal::note);
        return new EngineUnderTest(line, options, loaded, terminal);
    }

    /** Runs the warm-up on a separate engine, so that the run starts with new policies. */
    @Override
    public LoadResult offer(BenchServeFlags ofRun, OfferedLoad offered, Observers observers) {
        OfferedLoad warmUp = ofRun.warmUp(offered);
        if (!warmUp.requests().isEmpty()) {
            LoadResult unused = run("warmup", ofRun, warmUp, Observers.NONE);
        }
        return run("run", ofRun, offered, observers);
    }

    private LoadResult run(String what, BenchServeFlags ofRun, OfferedLoad offered, Observers observers) {
        EngineOptions ofEngine = flags.withNewPolicies(options);
        GrammarTimes.Recorder grammars = new GrammarTimes.Recorder();
        Observers all = observers.and(Observers.ofRequests(grammars));
        try (Engine engine = loaded.serve(ofEngine, flags.model().routing(), terminal.clock(), all);
                EngineTarget target = new EngineTarget(engine, ofRun.endpoint().template(), false, terminal.clock())) {
            LoadResult result = ServerUnderTest.run(what, target, ofRun, offered, terminal);
            requireAlive(engine);
            return result.withGrammars(grammars.times());
        }
    }

    /** Fails if an engine has failed: its failed requests would otherwise look like rejections by a server. */
    private void requireAlive(Engine engine) {
        for (int replica = 0; replica < loaded.replicas(); replica++) {
            Optional<RoseException> failure = engine.failure(replica);
            if (failure.isPresent() && failure.get() instanceof EngineStopped) {
                throw failure.get();
            }
        }
    }

    @Override
    public OptionalInt contextLength() {
        return OptionalInt.of(loaded.spec().contextLength());
    }

    @Override
    public String model() {
        return flags.model().model();
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
        loaded.close();
    }
}
