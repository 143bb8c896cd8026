package io.roseinfer.engine;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.tokenizer.Tokenizer;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Simulates a whole engine for one seed: replicas, tokenizers, callers that submit, read, close and are rejected, and a
 * thread that closes the engine. A {@link Weaver} chooses which thread runs next at every synchronization point.
 * Devices lose steps, are slow, or fail with various exceptions.
 */
final class EngineSimulation {
    /** Held, so that its level stays. Simulated losses of replicas are not logged. */
    private static final Logger REPLICAS = Logger.getLogger("io.roseinfer.engine");

    static {
        REPLICAS.setLevel(Level.OFF);
    }

    /** The built-in model's tokenizer and shape; the device is simulated. */
    private record Tiny(ModelSpec spec, Tokenizer tokenizer) {
        private static final Tiny LOADED = load();

        private static Tiny load() {
            try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
                return new Tiny(files.spec(), files.tokenizer().orElseThrow());
            }
        }
    }

    /**
     * The result of a run.
     *
     * @param points number of points at which another thread could run next
     */
    record Outcome(int points, int accepted, int overloaded, boolean died, int replicasLost) {}

    /** A device: when it fails, and how many points its steps take. */
    private static final class Device {
        private final int index;
        private final long lostAtStep;
        private final int slowness;
        private boolean lost;

        Device(int index, Dice dice, double lossChance) {
            this.index = index;
            this.lostAtStep = dice.chance(lossChance) ? dice.below(20) : Long.MAX_VALUE;
            this.slowness = index == 0 ? 0 : dice.oneOf(0, 0, 50);
        }
    }

    private static final int MAX_REPLICAS = 4;

    /** Replicas that may fail while they run one request before it fails too. */
    private static final int MAX_LOST_REPLICAS = 1;

    /** Number of callers in a run with many waiting requests. */
    private static final int CROWD = 8;

    private final long seed;
    private final boolean several;
    /** Whether requests wait for two pulling replicas; one of them probably fails. */
    private final boolean crowded;

    private final Dice dice;
    private final Weaver weaver;
    private final EngineOptions options;
    private final SlowTokenizer tokenizer = new SlowTokenizer(Tiny.LOADED.tokenizer());
    private final double stepLost;
    /**
     * Whether a device fails in the first step whose requests have all ended, so that the engine fails without
     * terminating any.
     */
    private final boolean losesEnded;

    private final Throwable loss;
    private final List<Device> devices = new ArrayList<>();
    private final RoutingPolicy routing;
    private final List<Call> calls = new ArrayList<>();
    private final Expected expected;
    private Optional<Engine> opened = Optional.empty();
    private Optional<PullCheck> pullCheck = Optional.empty();
    private long nanos;
    private int callersLeft;
    /** Whether the engine was closed immediately or with little grace. */
    private boolean mayTerminate;

    /** Whether a close with grace reported incomplete requests. */
    private boolean undrained;

    private final int[] admitted = new int[MAX_REPLICAS];

    /** The requests that have been admitted and not ended, with the replica that admitted each last. */
    private final Map<Call, Integer> running = new HashMap<>();

    private Optional<String> uncounted = Optional.empty();
    private int stepsLost;
    private boolean closing;
    private int closingBegan = Integer.MAX_VALUE;
    private boolean afterClose;

    private EngineSimulation(long seed, boolean several) {
        this.seed = seed;
        this.several = several;
        this.crowded = several && new Dice(seed, "crowd").chance(0.1);
        this.dice = new Dice(seed, "engine");
        this.weaver = new Weaver(new Dice(seed, "weaver"));
        this.loss = switch (dice.below(4)) {
            case 0 -> new OutOfMemoryError("planted");
            case 1 -> new AssertionError("planted");
            case 2 -> new IOException("planted");
            default -> new DeviceFailure("the simulated device is lost", false);
        };
        EngineOptions drawn = EngineOptions.defaults()
                .withBlockSize(4)
                .withKvBlocks(dice.between(10, 40))
                .withMaxInflightRequests(dice.between(1, 4))
                .withStreamInterval(dice.oneOf(1, 1, 2, 5))
                .withTokenizeWorkers(dice.oneOf(0, 1, 2))
                .withStepHistory(16)
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(dice.between(1, 4))
                        .chunkedPrefill(dice.coin())
                        .prefixCache(dice.coin())
                        .admission(SimulationSettings.holding(SimulationSettings.policy(dice), seed))
                        .build());
        this.options = crowded ? crowded(drawn) : drawn;
        this.stepLost = dice.oneOf(0, 0, 0, 0.1);
        this.losesEnded = new Dice(seed, "idle loss 0").chance(0.1);
        devices.add(new Device(0, dice, 0.3));
        Dice more = new Dice(seed, "replicas");
        int replicas = crowded ? 2 : several ? more.between(2, MAX_REPLICAS) : 1;
        double lossChance = crowded ? 0.9 : more.oneOf(0, 0.3, 0.3, 0.9);
        for (int i = 1; i < replicas; i++) {
            devices.add(new Device(i, more, lossChance));
        }
        this.routing = crowded ? crowdedRouting(new Dice(seed, "bound")) : routing(more);
        this.expected = new Expected(Tiny.LOADED.spec(), Tiny.LOADED.tokenizer(), seed);
    }

    /**
     * Returns options with which each replica admits two requests at a time, in order of arrival, while others wait.
     */
    private static EngineOptions crowded(EngineOptions options) {
        return options.withMaxInflightRequests(CROWD)
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(2)
                        .maxActiveRequests(2)
                        .prefillMaxBatchSize(1)
                        .admission(AdmissionPolicy.fifo())
                        .build());
    }

    /** Returns a policy that leaves all requests to any replica, or binds all to the first live one. */
    private static RoutingPolicy crowdedRouting(Dice dice) {
        return dice.chance(0.3) ? (request, living) -> 0 : RoutingPolicy.pull();
    }

    private static RoutingPolicy routing(Dice dice) {
        return switch (dice.below(6)) {
            case 0 -> RoutingPolicy.prefix();
            case 1 -> dice.coin() ? RoutingPolicy.sglang() : RoutingPolicy.dynamo();
            case 2 -> RoutingPolicy.roundRobin();
            case 3 -> RoutingPolicy.leastTokens();
            case 4 -> (request, living) -> dice.between(RoutingPolicy.SHARED_QUEUE, living.size() - 1);
            default -> RoutingPolicy.pull();
        };
    }

    /**
     * Runs a seed; the classes must have been woven.
     *
     * @param several whether the engine has more than one replica
     * @throws AssertionError if a check fails
     */
    static Outcome run(long seed, boolean several) {
        EngineSimulation simulation = new EngineSimulation(seed, several);
        try {
            return simulation.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        } catch (RuntimeException | Error e) {
            throw new AssertionError(
                    (several ? "replicas" : "the engine's threads") + ", point " + simulation.weaver.now() + ": "
                            + e.getMessage() + "; repeat it with tools/sim --seed " + seed,
                    e);
        }
    }

    private Outcome run() throws InterruptedException {
        int maxInFlight = dice.between(1, 2);
        List<SimRunner> runners = devices.stream()
                .map(device -> SimOptions.defaults()
                        .withSeed(seed)
                        .withMaxInFlight(maxInFlight)
                        .withOnStep(step -> step(device, step)))
                .map(sim ->
                        new SimRunner(Tiny.LOADED.spec(), EngineLimits.runnerLimits(options, Tiny.LOADED.spec()), sim))
                .toList();
        weaver.add("owner", () -> own(runners));
        weaver.observe(() -> calls.forEach(call -> call.observe(weaver.now())));
        weaver.run();
        calls.forEach(this::check);
        checkAdmissions();
        opened.ifPresent(EngineSimulation::checkBooks);
        uncounted.or(() -> pullCheck.flatMap(PullCheck::violation)).ifPresent(what -> {
            throw new AssertionError(what);
        });
        Require.that(
                !undrained || mayHaveLost() || calls.stream().anyMatch(Call::mayBeTerminated),
                "not drained, and all was worked off");
        expected.close();
        runners.forEach(SimRunner::close);
        return new Outcome(
                weaver.now(),
                (int) calls.stream().filter(Call::isAccepted).count(),
                (int) calls.stream().filter(Call::isOverloaded).count(),
                mayHaveDied(),
                (int) devices.stream().filter(device -> device.lost).count());
    }

    /** Returns whether something happened that stops an engine. */
    private boolean mayHaveDied() {
        return devices.stream().allMatch(device -> device.lost);
    }

    /** Returns whether something happened that stops a replica, perhaps with requests. */
    private boolean mayHaveLost() {
        return devices.stream().anyMatch(device -> device.lost);
    }

    private void step(Device device, long step) {
        WovenCalls.point();
        pass(device.slowness);
        if (!closing) {
            pullCheck.ifPresent(check -> check.stepBegins(device.index));
        }
        if (step >= device.lostAtStep || (losesEnded && haveAllEnded())) {
            device.lost = true;
            throw EngineSimulation.<RuntimeException>unchecked(loss);
        }
        if (dice.chance(stepLost)) {
            stepsLost++;
            throw new DeviceFailure("the simulated device lost a step", true);
        }
    }

    /** Returns whether every request has ended, including those in the step in flight. */
    private boolean haveAllEnded() {
        Weaver.mute(1);
        try {
            return calls.stream().noneMatch(Call::isRunning);
        } finally {
            Weaver.mute(-1);
        }
    }

    /** Throws a checked exception without declaring it, as other JVM languages can. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // inferred as unchecked, which is what it is for
    private static <E extends Throwable> E unchecked(Throwable thrown) throws E {
        throw (E) thrown;
    }

    /** Opens the engine, lets callers use it, and closes it at some point. */
    private void own(List<SimRunner> runners) {
        Engine engine = Engine.open(
                        runners,
                        Optional.of(tokenizer),
                        options,
                        routing,
                        () -> nanos++,
                        Observers.ofRequests(admissions()))
                .onClose(() -> afterClose = true);
        opened = Optional.of(engine);
        if (!several || routing.equals(RoutingPolicy.pull())) {
            pullCheck = Optional.of(new PullCheck(weaver, engine, options, calls));
        }
        int callers = crowded ? CROWD : several ? dice.between(2, 5) : dice.between(1, 3);
        callersLeft = callers;
        for (int i = 0; i < callers; i++) {
            Dice own = new Dice(seed, "caller " + i);
            weaver.add("caller " + i, () -> use(engine, own));
        }
        if (dice.coin()) {
            weaver.add("closer", () -> close(engine, new Dice(seed, "closer")));
        }
        if (dice.coin()) {
            Weaver.await(() -> callersLeft == 0);
            probe(engine);
        } else {
            pass(dice.oneOf(100, 1500));
        }
        close(engine, dice);
    }

    private RequestObserver admissions() {
        return event -> {
            switch (event) {
                case RequestEvent.Admitted(ObservedRequest request) -> admit(request);
                case RequestEvent.Ended(ObservedRequest request, FinishReason _) ->
                    running.remove((Call) request.tag().orElseThrow());
                default -> {}
            }
        };
    }

    private void admit(ObservedRequest request) {
        int replica = request.timeline().replica();
        admitted[replica]++;
        Call call = (Call) request.tag().orElseThrow();
        pullCheck.ifPresent(check -> check.admitted(call, replica));
        running.put(call, replica);
        call.admitted();
        checkLoad(replica);
    }

    /** Checks that admitted requests stay in the load until the replica's own thread, the caller, ends them. */
    private void checkLoad(int replica) {
        Weaver.mute(1);
        int counted = opened.orElseThrow().loads().get(replica).requests();
        Weaver.mute(-1);
        long admittedNow = running.values().stream().filter(by -> by == replica).count();
        if (counted < admittedNow) {
            uncounted = uncounted.or(() ->
                    Optional.of("engine " + replica + " runs " + admittedNow + " requests, and counts " + counted));
        }
    }

    /** Checks that a request served by a replica from the start was admitted by it, regardless of earlier replicas. */
    private void checkAdmissions() {
        int[] served = new int[devices.size()];
        for (Call call : calls) {
            call.completion()
                    .map(Completion::timeline)
                    .filter(times -> times.tokenNanos().length > 0)
                    .ifPresent(times -> served[times.replica()]++);
        }
        for (int i = 0; i < served.length; i++) {
            Require.that(served[i] <= admitted[i], "engine %d served %d, admitted %d", i, served[i], admitted[i]);
        }
    }

    /** Checks the counters after everything has ended: every accepted request has ended, and no replica has a load. */
    private static void checkBooks(Engine engine) {
        RequestCounts counts = engine.stats().requests();
        long ended = counts.ended().values().stream().mapToLong(Long::longValue).sum();
        Require.that(
                engine.inflight() == 0 && counts.accepted() == ended,
                "%d accepted, %d ended, %d in flight",
                counts.accepted(),
                ended,
                engine.inflight());
        for (ReplicaLoad load : engine.loads()) {
            Require.that(
                    load.requests() == 0 && load.outstandingTokens() == 0 && load.uncomputedPromptTokens() == 0,
                    "engine %d counts %d requests, %d tokens, %d of prompts",
                    load.index(),
                    load.requests(),
                    load.outstandingTokens(),
                    load.uncomputedPromptTokens());
        }
    }

    private static void pass(int points) {
        for (int i = 0; i < points; i++) {
            WovenCalls.point();
        }
    }

    /** Submits one more request after everything has ended; there must be capacity for it. */
    private void probe(Engine engine) {
        call(engine, expected.request(dice, "", false)).readToTheEnd();
    }

    private void close(Engine engine, Dice own) {
        pass(own.oneOf(0, 300, 1500));
        closing = true;
        closingBegan = Math.min(closingBegan, weaver.now());
        switch (own.below(4)) {
            case 0 -> {
                mayTerminate = true;
                engine.close();
            }
            case 1 -> {
                mayTerminate = true;
                drain(engine, Duration.ofNanos(own.below(100)));
            }
            case 2 -> drain(engine, ChronoUnit.FOREVER.getDuration());
            default -> drain(engine, Duration.ofDays(300 * 365));
        }
        Require.that(afterClose, "the engine is closed and what follows has not been done");
        for (Call call : List.copyOf(calls)) {
            Require.that(!call.isAccepted() || call.hasEnded(), "the engine is closed and %s has not ended", call);
        }
    }

    private void drain(Engine engine, Duration grace) {
        int begun = weaver.now();
        boolean drained = engine.close(grace);
        if (drained) {
            Require.that(
                    !devices.stream().allMatch(device -> device.lost),
                    "every device was lost, and the engine calls that drained");
            for (Call call : List.copyOf(calls)) {
                Require.that(
                        !call.isAcceptedBefore(begun) || !call.isTerminated(), "drained, but %s was terminated", call);
            }
        } else {
            Require.that(mayTerminate || mayHaveLost(), "not drained despite unlimited time");
            undrained = true;
        }
    }

    private void use(Engine engine, Dice own) {
        int requests = own.between(1, 4);
        for (int i = 0; i < requests; i++) {
            pass(own.below(20));
            boolean slow = options.tokenizeWorkers() > 0 && own.chance(0.15);
            String text = slow ? SlowTokenizer.SLOW + own.below(1_000_000) : own.coin() ? "Once upon" : "";
            GenerationRequest wanted = expected.request(own, text, own.coin());
            Call call = call(
                    engine, own.chance(0.1) ? wanted.withTimeout(Duration.ofNanos(own.oneOf(1, 30, 300))) : wanted);
            if (call.isAccepted()) {
                read(call, own, slow);
            }
            tokenizer.release(text);
        }
        callersLeft--;
    }

    private void read(Call call, Dice own, boolean slow) {
        switch (slow ? 3 : own.below(4)) {
            case 0 -> call.readToTheEnd();
            case 1 -> call.complete();
            case 2 -> {
                call.read(own.below(5));
                call.close(own.between(1, 3), () -> nanos);
            }
            default -> {
                pass(own.below(40));
                call.close(own.between(1, 3), () -> nanos);
                Weaver.await(call::hasEnded);
            }
        }
        call.complete();
    }

    private Call call(Engine engine, GenerationRequest request) {
        Call call = new Call(calls.size(), request, weaver.now());
        calls.add(call);
        try {
            TokenStream stream = engine.submit(request.withTag(call));
            call.accepted(stream, weaver.now());
            if (new Dice(seed, "listener " + calls.size()).chance(0.2)) {
                stream.onDelivery(() -> {
                    throw EngineSimulation.<RuntimeException>unchecked(loss);
                });
            }
        } catch (RoseException e) {
            call.refused(e, weaver.now());
        }
        return call;
    }

    private void check(Call call) {
        if (call.isAccepted()) {
            checkEnding(call);
        } else {
            checkRefusal(call);
        }
    }

    private void checkRefusal(Call call) {
        switch (call.refusal()) {
            case Overloaded e ->
                Require.that(
                        Call.maxAtOnce(calls, call) >= options.maxInflightRequests(),
                        "%s was refused as overloaded and there was room all the time",
                        call);
            case EngineStopped e ->
                Require.that(closing || mayHaveDied(), "the engine stopped by itself: %s", e.getMessage());
            default -> throw new AssertionError("refused: " + call.refusal(), call.refusal());
        }
    }

    private void checkEnding(Call call) {
        Require.that(call.hasEnded(), "%s has not ended", call);
        Require.that(call.admissions() <= MAX_LOST_REPLICAS + 1, "%s was run by %d replicas", call, call.admissions());
        FinishReason reason = call.reason();
        switch (reason) {
            case ERROR -> checkFailure(call);
            case DEADLINE ->
                Require.that(call.request().options().timeout().isPresent(), "%s ended at a deadline it had not", call);
            case CANCELLED ->
                Require.that(
                        call.hasEndedAfter(closingBegan) || call.isClosed(), "%s was cancelled without a cause", call);
            default -> {}
        }
        call.checkEnd();
        expected.check(call, reason);
    }

    private void checkFailure(Call call) {
        Require.that(mayHaveLost() || stepsLost > 0, "%s failed and nothing else did: %s", call, call.failure());
        Require.that(
                !call.failedWith(EngineStopped.class) || call.hasEndedAfter(closingBegan) || mayHaveDied(),
                "%s ended with the engine although a replica is live",
                call);
        boolean hadToMove = call.hadNoToken()
                && call.request().stop().isEmpty()
                && !call.isClosed()
                && call.admissions() <= MAX_LOST_REPLICAS;
        Require.that(
                !call.failedWith(ReplicaStopped.class) || !hadToMove || mayTerminate || mayHaveDied(),
                "%s had no token, and was not given to another replica",
                call);
    }
}
