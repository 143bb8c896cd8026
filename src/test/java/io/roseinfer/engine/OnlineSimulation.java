package io.roseinfer.engine;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Simulates an {@link OnlineScheduler} for one seed: requests are queued, run and discarded in any state, and the
 * device loses steps. Requests returned as finished must have ended, must not have been discarded, and are returned
 * once.
 */
final class OnlineSimulation implements AutoCloseable {
    private static final int CALLS = 60;
    private static final int MAX_STEPS = 20_000;

    /** A request that was not discarded, as its owner sees it. */
    private static final class Owned {
        private final GenerationRequest request;
        private boolean finished;

        Owned(GenerationRequest request) {
            this.request = request;
        }

        int[] prompt() {
            return ((Prompt.Tokens) request.prompt()).ids();
        }
    }

    private final SimulationSettings settings;
    private final Dice dice;
    private final Workload workload;
    private final SimRunner runner;
    private final OnlineScheduler scheduler;
    private final SoloRun solo;
    private final Map<Long, Owned> owned = new LinkedHashMap<>();
    private final List<Long> discarded = new ArrayList<>();
    private boolean faultless;
    private int lost;

    private OnlineSimulation(SimulationSettings settings) {
        this.settings = settings;
        this.dice = new Dice(settings.seed(), "online");
        this.workload = new Workload(settings);
        SimOptions sim = SimOptions.defaults().withSeed(settings.seed()).withOnStep(step -> losePerhaps());
        this.runner = new SimRunner(settings.spec(), limits(settings), sim);
        this.scheduler = new OnlineScheduler(runner, settings.engine().scheduler());
        this.solo = new SoloRun(settings);
    }

    /** Returns the limits that its options require, with the pool of the settings. */
    private static RunnerLimits limits(SimulationSettings settings) {
        RunnerLimits wanted = EngineLimits.runnerLimits(settings.engine(), settings.spec());
        return new RunnerLimits(
                wanted.maxRows(),
                wanted.decodeRows(),
                wanted.maxTokens(),
                settings.limits().maxSamples(),
                wanted.draftedTokens(),
                wanted.blockSize(),
                settings.limits().kvBlocks());
    }

    /**
     * Runs a seed.
     *
     * @return the number of requests discarded
     * @throws AssertionError if a check fails
     */
    static int run(long seed) {
        try (OnlineSimulation simulation = new OnlineSimulation(SimulationSettings.of(seed))) {
            simulation.run();
            return simulation.discarded.size();
        } catch (RuntimeException e) {
            throw new AssertionError("the scheduler driven by hand, seed " + seed + ": " + e, e);
        }
    }

    private void losePerhaps() {
        if (!faultless && dice.chance(settings.faults().stepLost())) {
            lost++;
            throw new DeviceFailure("the simulated device lost a step", true);
        }
    }

    private void run() {
        for (int call = 0; call < CALLS; call++) {
            switch (dice.below(8)) {
                case 0, 1 -> add();
                case 2 -> discard();
                case 3 -> popFinished();
                case 4 -> step(true);
                default -> step(false);
            }
        }
        faultless = true;
        for (int steps = 0; scheduler.hasUnfinished(); steps++) {
            Require.that(steps < MAX_STEPS, "requests that never end");
            step(false);
        }
        popFinished();
        owned.forEach((id, request) -> Require.that(request.finished, "request %d never came out as finished", id));
        Require.that(scheduler.blocksInUse() == 0, "%d blocks held without a request", scheduler.blocksInUse());
    }

    private void add() {
        GenerationRequest request = workload.next();
        Owned added = new Owned(request);
        long id = scheduler.enqueue(
                added.prompt(),
                request.maxNewTokens(),
                request.sampling(),
                request.seed().orElse(0),
                request.ignoreEndOfText());
        owned.put(id, added);
    }

    /** Discards a request in any state, perhaps already discarded. */
    private void discard() {
        List<Long> ids = new ArrayList<>(dice.chance(0.8) ? owned.keySet() : discarded);
        if (!ids.isEmpty()) {
            long id = ids.get(dice.below(ids.size()));
            scheduler.discardRequest(id);
            owned.remove(id);
            discarded.add(id);
        }
    }

    private void step(boolean prefillOnly) {
        int lostBefore = lost;
        try {
            OnlineScheduler.StepTokens tokens = prefillOnly ? scheduler.prefill() : scheduler.step();
            for (int i = 0; i < tokens.size(); i++) {
                Require.that(
                        owned.containsKey(tokens.requestId(i)),
                        "request %d was discarded and got a token",
                        tokens.requestId(i));
            }
        } catch (DeviceFailure failure) {
            Require.that(lost > lostBefore, "a step failed that the device did not lose");
        }
    }

    private void popFinished() {
        for (long id : scheduler.popFinishedIds()) {
            Owned request = Optional.ofNullable(owned.get(id))
                    .orElseThrow(() -> new AssertionError("request " + id + " was discarded and came out as finished"));
            Require.that(!request.finished, "request %d came out as finished twice", id);
            request.finished = true;
            checkOutcome(id, request);
        }
    }

    private void checkOutcome(long id, Owned owner) {
        GenerationRequest request = owner.request;
        int[] ids = scheduler.generatedIds(id);
        int[] alone = solo.ids(owner.prompt(), request, request.seed().orElse(0));
        FinishReason reason = scheduler.finishReason(id).orElseThrow();
        boolean whole = reason == FinishReason.LENGTH || reason == FinishReason.STOP;
        Require.that(whole || (reason == FinishReason.ERROR && lost > 0), "request %d ended with %s", id, reason);
        Require.that(
                whole
                        ? Arrays.equals(ids, alone)
                        : Arrays.equals(ids, Arrays.copyOf(alone, Math.min(ids.length, alone.length))),
                "request %d yields %s, alone %s",
                id,
                Arrays.toString(ids),
                Arrays.toString(alone));
    }

    @Override
    public void close() {
        solo.close();
        runner.close();
    }
}
