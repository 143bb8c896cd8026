package io.roseinfer.cli.bench;

import io.roseinfer.LoadedModel;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.replay.SimulatedServer;
import io.roseinfer.bench.replay.StepCosts;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.flags.SimulationFlags;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Engines in simulated time: the real loop, scheduler and routing, with step times from a recorded run or flags. */
final class SimulationUnderTest implements SystemUnderTest {
    private final BenchServeFlags flags;
    private final EngineOptions options;
    private final ModelSpec spec;
    private final StepCosts costs;
    private final Map<String, @Nullable Object> settings;
    private final Environment environment;
    private long runs;

    private SimulationUnderTest(
            ServeCommandLine line, EngineOptions options, LoadedModel loaded, StepCosts costs, Terminal terminal) {
        this.flags = line.flags();
        this.options = options;
        this.spec = loaded.spec();
        this.costs = costs;
        this.settings =
                BackendFlags.inForce(new SettingsInForce(loaded, options).all(line.command(), flags.model()), line);
        this.environment = Machine.simulated(costs.source(), terminal)
                .withPolicies(Machine.policies(options.scheduler().policies()));
    }

    static SimulationUnderTest load(ServeCommandLine line, Terminal terminal) {
        return load(line, Optional.empty(), terminal);
    }

    /** Creates a simulation; a recorded run provides step costs unless flags name result files. */
    static SimulationUnderTest load(ServeCommandLine line, Optional<RecordedRun> recorded, Terminal terminal) {
        BenchServeFlags flags = line.flags();
        SimulationFlags simulation = flags.simulation();
        flags.model().simulate(line.command(), simulation.defaultModel());
        Function<ModelSpec, StepCosts> costs =
                simulation.costs(recorded, flags.model().model());
        EngineOptions asked = flags.engineOptions(terminal);
        try (LoadedModel loaded = flags.model().load(spec -> withPool(asked, costs.apply(spec)), terminal)) {
            StepCosts own = costs.apply(loaded.spec());
            var unused = simulation.times(own, flags.seed());
            flags.fitLengths(line.command(), loaded.spec().contextLength()).ifPresent(terminal::note);
            return new SimulationUnderTest(line, withPool(asked, own), loaded, own, terminal);
        }
    }

    private static EngineOptions withPool(EngineOptions asked, StepCosts costs) {
        return asked.withKvBlocks(asked.kvBlocks() > 0 ? asked.kvBlocks() : costs.kvBlocks());
    }

    /** Runs a load with a new seed and new policies, without a warm-up. */
    @Override
    public LoadResult offer(BenchServeFlags ofRun, OfferedLoad offered) {
        long seed = SplitMix64.at(flags.seed(), runs++);
        SimOptions sim = SimOptions.defaults().ofShapes().withMaxInFlight(costs.inFlight());
        return new SimulatedServer(
                        new SimulatedServer.Engines(
                                flags.model().simulatedReplicas(),
                                () -> new SimRunner(spec, EngineLimits.runnerLimits(options, spec), sim),
                                flags.withNewPolicies(options),
                                flags.model().routing()),
                        engine -> flags.simulation().times(costs, engine == 0 ? seed : SplitMix64.at(seed, engine)),
                        ofRun.maxConcurrency().orElse(LoadRun.UNBOUNDED),
                        seed)
                .run(offered);
    }

    @Override
    public List<String> notes(LoadResult result) {
        return costs.extrapolation(result).stream().toList();
    }

    @Override
    public OptionalInt contextLength() {
        return OptionalInt.of(spec.contextLength());
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
        // Runs leave nothing open.
    }
}
