package io.roseinfer.cli.bench;

import io.roseinfer.LoadedModel;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.SyntheticDrafter;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.replay.EngineLoad;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.replay.SimulatedServer;
import io.roseinfer.bench.replay.Split;
import io.roseinfer.bench.replay.StepCosts;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.flags.SimulationFlags;
import io.roseinfer.cli.flags.StepCostsChoice;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.Policies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Engines in simulated time: the real loop, scheduler and routing, with step times from a recorded run or flags. */
final class SimulationUnderTest implements SystemUnderTest {
    /** The default batch limit is noted if the costs cover at least this many times as many rows. */
    private static final int FAR_BELOW = 4;

    /** The names in results of flags that a validation may not cover, if they are not their own. */
    private static final Map<String, String> NAMES = Map.of(
            "--chunked-prefill", "chunked prefill",
            "--speculate", "drafts",
            "--death", "failures",
            "--view-age", "aged views",
            "--scale-policy", "scaling",
            "--scale-interval", "scaling",
            "--start-up", "scaling",
            "--prefill-engines", "prefill engines",
            "--kv-transfer", "prefill engines",
            "--engine-costs", "engines of different costs");

    /** Flags that leave the accuracy of step costs unchanged, or are named by their effect or value. */
    private static final Set<String> NOT_NAMED = Set.of(
            "--backend",
            "--model",
            "--offline",
            "--memory-plan",
            "--ignore-eos",
            "--num-prompts",
            "--duration",
            "--seed",
            "--trim-warmup-s",
            "--trim-cooldown-s",
            "--goodput",
            "--slo",
            "--max-failed",
            "--step-costs",
            "--step-cost-scale",
            "--step-noise",
            "--replicas",
            "--routing",
            "--prefill-admission-policy",
            "--preemption-policy",
            "--kv-eviction-policy",
            "--step-policy",
            "--max-batch-size",
            "--max-active-requests");

    /** Hexadecimal digits that identify a class. */
    private static final int HASH_DIGITS = 12;

    /** The time without a simulated step after which a warning says where the simulation is. */
    private static final Duration STALL = Duration.ofSeconds(10);

    private final BenchServeFlags flags;
    /** The options by flags; 0 KV blocks are as many as each engine's runner has. */
    private final EngineOptions asked;

    private final ModelSpec spec;
    /** The step costs of each engine. */
    private final List<StepCosts> costs;

    private final Map<String, @Nullable Object> settings;
    private final Map<String, String> policyHashes;
    private final Terminal terminal;
    private final boolean hasBatchFlag;
    private final List<String> customPolicies;
    /** Settings and properties of the runs so far that a validation may not cover. */
    private final Set<String> properties = new TreeSet<>();

    /** The maximum active requests of the runs so far. */
    private int mostActive;

    /** The largest load of the runs so far. */
    private EngineLoad busiest = EngineLoad.NONE;

    private long runs;

    private SimulationUnderTest(
            ServeCommandLine line, EngineOptions asked, LoadedModel loaded, List<StepCosts> costs, Terminal terminal) {
        this.flags = line.flags();
        this.asked = asked;
        this.spec = loaded.spec();
        this.costs = costs;
        this.hasBatchFlag = ExplicitFlags.has(line.command(), "--max-batch-size");
        this.customPolicies = policies().entrySet().stream()
                .flatMap(flag -> policy(line.command(), flag.getKey(), flag.getValue()))
                .toList();
        this.settings =
                BackendFlags.inForce(new SettingsInForce(loaded, asked).all(line.command(), flags.model()), line);
        this.policyHashes = new TreeMap<>(Machine.policies(asked.scheduler().policies()));
        policyHashes.putAll(Machine.policies(List.of(flags.model().routing())));
        policyHashes.putAll(
                Machine.policies(flags.fleet().scalePolicy().stream().toList()));
        this.terminal = terminal;
    }

    /** Returns the policies that a validation may not cover, by flag. */
    private Map<String, Object> policies() {
        Policies policies = asked.scheduler().policies();
        Map<String, Object> byFlag = new LinkedHashMap<>();
        byFlag.put("--prefill-admission-policy", policies.admission());
        byFlag.put("--preemption-policy", policies.preemption());
        byFlag.put("--kv-eviction-policy", policies.eviction());
        byFlag.put("--step-policy", policies.step());
        byFlag.put("--routing", flags.model().routing());
        return byFlag;
    }

    /** Returns a flag with the simple name of its policy, the argument, and the hash of a custom class; empty for the default. */
    private static Stream<String> policy(CommandSpec command, String flag, Object policy) {
        OptionSpec option = command.commandLine().getParseResult().matchedOption(flag);
        return Stream.ofNullable(option)
                .flatMap(given -> given.stringValues().stream())
                .filter(value -> !value.equals(option.defaultValueString()))
                .map(value -> flag + " "
                        + value.replaceFirst("[.]java(?=:|$)", "").replaceFirst("^[^:]*[/.]", "")
                        + Machine.policies(List.of(policy)).values().stream()
                                .map(hash -> " (class " + hash.substring(0, Math.min(HASH_DIGITS, hash.length())) + ")")
                                .collect(Collectors.joining()));
    }

    /** Returns settings, and properties of the runs so far, that a validation of costs may not cover. */
    private List<String> coverage(StepCosts own) {
        List<String> settings = new ArrayList<>();
        if (costs.size() > 1) {
            settings.add(costs.size() + " engines");
        }
        settings.addAll(customPolicies);
        if (flags.simulation().hasRandomNoise()) {
            settings.add("random step times");
        }
        own.batchBeyondValidation(asked.scheduler().maxBatchSize(), mostActive).ifPresent(settings::add);
        settings.addAll(properties);
        if (!properties.contains(StepCosts.OVERLOAD)) {
            settings.addAll(own.loadBeyondValidation(busiest));
        }
        return settings;
    }

    private String description(StepCosts own) {
        return own.description(coverage(own));
    }

    private Environment.Validation validation(StepCosts own) {
        return own.validation(coverage(own));
    }

    static SimulationUnderTest load(ServeCommandLine line, Terminal terminal) {
        return load(line, Optional.empty(), terminal);
    }

    /** Creates a simulation; a recorded run provides step costs unless flags name result files. */
    static SimulationUnderTest load(ServeCommandLine line, Optional<RecordedRun> recorded, Terminal terminal) {
        BenchServeFlags flags = line.flags();
        SimulationFlags simulation = flags.simulation();
        Optional<StepCostsChoice> chosen = simulation.costs(recorded);
        flags.model().simulate(line.command(), SimulationFlags.defaultModel(chosen));
        String model = flags.model().model();
        StepCostsChoice costs = chosen.orElseGet(() -> SimulationFlags.builtInCosts(model));
        int engines = flags.model().simulatedReplicas();
        Map<Integer, StepCostsChoice> ofEngines = flags.fleet().costs(engines);
        var unusedCount = flags.fleet().prefillEngines(engines);
        var unusedPlan = flags.fleet().plan(engines);
        flags.fleet().tellWithoutEffect(engines, flags.model().routesByState(), terminal);
        EngineOptions asked = flags.engineOptions(terminal);
        requireRates(asked.scheduler().drafter(), flags.drafterName());
        try (LoadedModel loaded =
                flags.model().load(spec -> withPool(asked, costs.costs().apply(spec)), terminal)) {
            Stream.concat(Stream.of(costs), ofEngines.values().stream())
                    .forEach(each -> each.requireModel(model, loaded.spec()));
            StepCosts shared = simulation.scaled(costs.costs().apply(loaded.spec()));
            List<StepCosts> own = IntStream.range(0, engines)
                    .mapToObj(i -> ofEngines.containsKey(i)
                            ? simulation.scaled(ofEngines.get(i).costs().apply(loaded.spec()))
                            : shared)
                    .toList();
            own.forEach(each -> {
                var unused = simulation.times(each, flags.seed());
            });
            flags.fitLengths(line.command(), loaded.spec().contextLength()).ifPresent(terminal::note);
            SimulationUnderTest system = new SimulationUnderTest(line, asked, loaded, own, terminal);
            var unusedSplit = system.split();
            return system;
        }
    }

    private static void requireRates(Drafter drafter, String name) {
        if (drafter.maxTokens() > 0 && !(drafter instanceof SyntheticDrafter)) {
            throw new BadInput("--speculate is " + name
                    + ", but simulated time has no text to draft from; give acceptance rates,"
                    + " such as --speculate synthetic:0.8/0.6, or remove it");
        }
    }

    private static EngineOptions withPool(EngineOptions asked, StepCosts costs) {
        return asked.withKvBlocks(asked.kvBlocks() > 0 ? asked.kvBlocks() : costs.kvBlocks());
    }

    /** Runs a load with a new seed and new policies, without a warm-up. */
    @Override
    public LoadResult offer(BenchServeFlags ofRun, OfferedLoad offered, Observers observers) {
        long seed = SplitMix64.at(flags.seed(), runs++);
        SimulatedServer server = new SimulatedServer(
                new SimulatedServer.Engines(
                        costs.size(),
                        this::runner,
                        options(),
                        flags.model().routing(),
                        flags.fleet().plan(costs.size()),
                        split()),
                engine -> flags.simulation().times(costs.get(engine), engine == 0 ? seed : SplitMix64.at(seed, engine)),
                ofRun.maxConcurrency().orElse(LoadRun.UNBOUNDED),
                seed);
        LoadResult result;
        try (StallWatch watch = StallWatch.start(STALL, terminal::warning)) {
            result = server.run(offered, observers.and(Observers.ofSteps(watch)));
        }
        BackendFlags.changedForSimulation(ofRun)
                .filter(flag -> !NOT_NAMED.contains(flag))
                .filter(flag -> !flag.equals("--prefill-max-batch-size") || !hasDefaultPrefillBatch())
                .filter(flag -> !flag.equals("--view-age")
                        || flags.fleet().agesViews(costs.size(), flags.model().routesByState()))
                .forEach(flag -> properties.add(NAMES.getOrDefault(flag, flag)));
        if (!offered.isScheduled()) {
            properties.add("--request-rate inf");
        }
        if (offered.turns().anyMatch(turn -> turn.traits().priority().isPresent())) {
            properties.add("priorities");
        }
        if (offered.turns().anyMatch(turn -> turn.traits().deadlineMillis().isPresent())) {
            properties.add("deadlines");
        }
        if (asked.scheduler().maxActiveRequests() < asked.scheduler().maxBatchSize()) {
            properties.add("fewer active requests than the batch");
        }
        mostActive = Math.max(mostActive, StepCosts.mostActive(result));
        busiest = busiest.max(EngineLoad.of(result, costs.size()));
        properties.addAll(StepCosts.properties(result, asked.scheduler().maxBatchSize()));
        if (extrapolatedShare(result).orElse(0) > RunValidity.MAX_EXTRAPOLATED_SHARE) {
            properties.add("over 5 % of the time outside the recorded range");
        }
        return result;
    }

    private boolean hasDefaultPrefillBatch() {
        return asked.scheduler().prefillMaxBatchSize() == asked.scheduler().maxBatchSize();
    }

    /** Returns the options of a run, with new policies. */
    private EngineOptions options() {
        EngineOptions options = flags.withNewPolicies(asked.withKvBlocks(0));
        SchedulerOptions scheduler = options.scheduler();
        if (!(scheduler.drafter() instanceof SyntheticDrafter drafter)) {
            return options;
        }
        int vocabulary = spec.vocabularySize();
        return options.withScheduler(scheduler.toBuilder()
                .drafter(drafter.withNextToken((last, length) -> SimRunner.nextToken(last, length, vocabulary)))
                .build());
    }

    /** Returns the split of a run, with new policies for the decode engines; empty if each engine serves whole requests. */
    private Optional<Split> split() {
        OptionalInt prefillEngines = flags.fleet().prefillEngines(costs.size());
        return prefillEngines.isEmpty()
                ? Optional.empty()
                : Optional.of(new Split(
                        prefillEngines.getAsInt(),
                        flags.fleet().transfer(spec),
                        options(),
                        flags.model().routing()));
    }

    /** Returns the runner of an engine, with the KV blocks of its recorded run unless a flag gives them. */
    private SimRunner runner(int engine) {
        StepCosts own = costs.get(engine);
        SimOptions sim = SimOptions.defaults().ofShapes().withMaxInFlight(own.inFlight());
        return new SimRunner(spec, EngineLimits.runnerLimits(withPool(asked, own), spec), sim);
    }

    /** Notes a default batch limit far below the steps that the costs were measured for, and KV pools whose size no flag gives. */
    @Override
    public List<String> notesOnSettings() {
        return Stream.concat(noteOnBatch(), notesOnPools()).toList();
    }

    private Stream<String> noteOnBatch() {
        int limit = asked.scheduler().maxBatchSize();
        int rows = costs.stream()
                .mapToInt(each -> each.times().costs().range().decode().maxTokens())
                .filter(max -> max < Integer.MAX_VALUE)
                .max()
                .orElse(0);
        return hasBatchFlag || limit > rows / FAR_BELOW
                ? Stream.empty()
                : Stream.of("step costs cover up to " + rows + " rows; --max-batch-size is " + limit
                        + ", its default, so an engine decodes at most " + limit
                        + " requests per step; raise it to match your server");
    }

    private Stream<String> notesOnPools() {
        boolean isEqual =
                costs.stream().mapToInt(StepCosts::kvBlocks).distinct().count() == 1;
        return IntStream.range(0, isEqual ? 1 : costs.size())
                .filter(engine -> asked.kvBlocks() == 0 && costs.get(engine).kvBlocks() > 0)
                .mapToObj(engine -> (isEqual ? "" : "engine " + engine + ": ") + "the KV pool has "
                        + costs.get(engine).kvBlocks() + " blocks of " + asked.blockSize()
                        + " tokens, the number that comes with the step costs; give your server's with --kv-blocks");
    }

    @Override
    public List<String> notes(LoadResult result) {
        List<String> notes = new ArrayList<>(flags.fleet().deathsWithoutEffect(result));
        StepCosts first = costs.getFirst();
        if (costs.stream().allMatch(first::equals)) {
            first.extrapolation(result).ifPresent(notes::add);
            return notes;
        }
        for (int i = 0; i < costs.size(); i++) {
            int engine = i;
            LoadResult own = result.withSteps(step -> step.get(Fact.ENGINE) == engine);
            costs.get(i).extrapolation(own).ifPresent(note -> notes.add("engine " + engine + ": " + note));
        }
        return notes;
    }

    @Override
    public OptionalDouble extrapolatedShare(LoadResult result) {
        StepCosts first = costs.getFirst();
        if (costs.stream().allMatch(first::equals)) {
            return share(first.time(result).stream());
        }
        return share(IntStream.range(0, costs.size())
                .boxed()
                .flatMap(i -> costs.get(i).time(result.withSteps(step -> step.get(Fact.ENGINE) == i)).stream()));
    }

    private static OptionalDouble share(Stream<StepCosts.SimulatedTime> times) {
        return times.reduce(StepCosts.SimulatedTime::plus)
                .map(time -> OptionalDouble.of(time.share()))
                .orElseGet(OptionalDouble::empty);
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
        String first = description(costs.getFirst());
        StringBuilder source = new StringBuilder(first);
        List<Environment.Validation> validations = new ArrayList<>(List.of(validation(costs.getFirst())));
        for (int i = 1; i < costs.size(); i++) {
            String own = description(costs.get(i));
            if (!own.equals(first)) {
                source.append("; engine ").append(i).append(": ").append(own);
                validations.add(validation(costs.get(i)));
            }
        }
        return Machine.simulated(source.toString(), validations, terminal).withPolicies(policyHashes);
    }

    @Override
    public boolean hasReplayedCosts() {
        return costs.stream().anyMatch(StepCosts::replayed);
    }

    @Override
    public void forgetRuns() {
        properties.clear();
        mostActive = 0;
        busiest = EngineLoad.NONE;
    }

    @Override
    public void close() {
        // Runs leave nothing open.
    }
}
