package io.roseinfer.engine;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.CachedBlock;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * All policies in one object with state: it holds, runs, pauses and preempts requests at random, as a faulty policy might, and
 * checks that the events of each request are in order and agree with the steps.
 */
final class RandomPolicy implements AdmissionPolicy, PreemptionPolicy, EvictionPolicy, StepPolicy, RequestEvents {
    private static final int MAX_CHUNK = 9;

    private final Dice dice;
    private final double pauses;
    private final double preempts;
    private final Dice holdDice;
    private final Dice draftDice;
    private final double holds;
    private final Map<Long, Progress> live = new HashMap<>();
    private int preemptions;
    private int pauseCount;
    private int holdCount;
    private int rankCount;

    /** The state of a request, by its events. */
    private static final class Progress {
        private boolean running;
        private int replica;
        private int computed;
        private int generated;
    }

    RandomPolicy(long seed) {
        dice = new Dice(seed, "random policy");
        pauses = dice.oneOf(0, 0.1, 0.5);
        preempts = dice.oneOf(0, 0.02, 0.2);
        holdDice = new Dice(seed, "holds");
        draftDice = new Dice(seed, "row drafts");
        holds = holdDice.oneOf(0, 0, 0, 0.5, 1);
    }

    /** Returns how many requests have arrived and not ended. */
    int liveCount() {
        return live.size();
    }

    /** Returns how many requests it preempted. */
    int preemptions() {
        return preemptions;
    }

    /** Returns how often it left a request out of a step. */
    int pauses() {
        return pauseCount;
    }

    /** Returns how often it kept a request waiting. */
    int holds() {
        return holdCount;
    }

    /** Returns how many cached blocks it ranked. */
    int ranks() {
        return rankCount;
    }

    @Override
    public int lookahead() {
        return MAX_LOOKAHEAD;
    }

    @Override
    public long rank(WaitingRequest request, QueueView queue) {
        Require.that(!progress(request).running, "request %d is ranked and running", request.id());
        int replica = request.replica();
        Require.that(
                replica == queue.replica() || replica == PolicyRequest.ANY_REPLICA,
                "replica %d ranks request %d of replica %d",
                queue.replica(),
                request.id(),
                replica);
        return dice.below(3);
    }

    @Override
    public boolean holds(WaitingRequest request, QueueView queue) {
        Require.that(queue.runningRows() > 0, "request %d is held and nothing runs", request.id());
        boolean isHeld = holdDice.chance(holds);
        holdCount += isHeld ? 1 : 0;
        return isHeld;
    }

    @Override
    public RunningRequest victim(RunningRequest one, RunningRequest other, QueueView queue) {
        return one.id() % 3 > other.id() % 3 ? one : other;
    }

    /** A running request releases blocks only after it has ended or was preempted. */
    @Override
    public long rank(CachedBlock block, QueueView queue) {
        Progress progress = live.get(block.request().id());
        Require.that(
                progress == null || !progress.running,
                "request %d runs and releases a cached block",
                block.request().id());
        rankCount++;
        return SplitMix64.at(block.request().id(), block.tokensBefore() + block.hits()) % 3;
    }

    @Override
    public void plan(StepBuilder step) {
        if (dice.chance(0.2)) {
            StepPolicy.mixed().plan(step);
            return;
        }
        int decoding = step.decoding();
        int prefilling = step.prefilling();
        for (int i = 0; i < decoding; i++) {
            run(step, step.decoding(i), false);
        }
        for (int i = 0; i < prefilling; i++) {
            run(step, step.prefilling(i), true);
        }
        int chunk = chunk(step);
        if (chunk > 0) {
            step.admit(chunk);
        }
        if (step.isEmpty()) {
            StepPolicy.mixed().plan(step);
        }
    }

    /** Returns a number of prompt tokens that the step may still take, 0 if it is full. */
    private int chunk(StepBuilder step) {
        int budget = step.prefillMaxTokens() - step.tokens();
        return Math.min(budget, dice.coin() ? budget : 1 + dice.below(MAX_CHUNK));
    }

    private void run(StepBuilder step, RunningRequest request, boolean prefills) {
        if (dice.chance(preempts) && step.preempt(request)) {
            preemptions++;
        } else if (dice.chance(pauses)) {
            pauseCount++;
        } else if (prefills) {
            int chunk = chunk(step);
            int count = chunk > 0 ? step.prefill(request, chunk) : 0;
            Require.that(count >= 0 && count <= Math.max(0, chunk), "%d tokens of a chunk of %d", count, chunk);
        } else {
            boolean unused = step.decode(request, draftDice.below(4));
        }
    }

    private Progress progress(PolicyRequest request) {
        return Objects.requireNonNull(live.get(request.id()), "the request has not arrived, or has ended");
    }

    @Override
    public void arrived(PolicyRequest request) {
        Progress progress = new Progress();
        // Another engine may have computed the prompt, and generated the first token.
        progress.generated = request.length() - request.promptLength();
        Require.that(live.put(request.id(), progress) == null, "request %d arrived twice", request.id());
    }

    @Override
    public void admitted(RunningRequest request, int cachedTokens) {
        Progress progress = progress(request);
        Require.that(!progress.running, "request %d was admitted twice", request.id());
        progress.running = true;
        progress.replica = request.replica();
        Require.that(progress.replica >= 0, "request %d was admitted by no replica", request.id());
        progress.computed = cachedTokens;
    }

    private static void requireReplica(Progress progress, PolicyRequest request) {
        Require.that(
                progress.replica == request.replica(),
                "request %d ran on replica %d, not %d",
                request.id(),
                progress.replica,
                request.replica());
    }

    @Override
    public void stepped(RunningRequest request, int computedTokens, int newTokens) {
        Progress progress = progress(request);
        Require.that(progress.running, "request %d waits and has stepped", request.id());
        requireReplica(progress, request);
        progress.computed += computedTokens;
        progress.generated += newTokens;
        Require.that(
                progress.generated == request.length() - request.promptLength()
                        && progress.computed <= request.length(),
                "request %d has computed %d tokens and generated %d; it has %d",
                request.id(),
                progress.computed,
                progress.generated,
                request.length());
    }

    @Override
    public void preempted(PolicyRequest request) {
        Progress progress = progress(request);
        Require.that(progress.running, "request %d was preempted and did not run", request.id());
        requireReplica(progress, request);
        progress.running = false;
        progress.computed = 0;
    }

    @Override
    public void ended(PolicyRequest request) {
        Progress progress = live.remove(request.id());
        Require.that(progress != null, "request %d ended twice", request.id());
        if (progress != null && progress.running) {
            requireReplica(progress, request);
        }
    }
}
