package io.roseinfer.scheduler;

import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.Drafter.Drafts;

/**
 * The drafts of one request. How many there are depends on how many of the latest ones were accepted; if these are few, the
 * request pauses. Pauses end at steps whose number is a multiple of their length, so that requests end them together: the
 * device waits for the host before each step that may have drafts.
 */
final class Drafting {
    /** The share of accepted drafts from which the maximum is drafted, as a multiple of a draft's cost. */
    private static final double FULL_ACCEPTANCE = 4;

    /** Steps, powers of two. */
    private static final int MIN_PAUSE = 4;

    private static final int MAX_PAUSE = 128;

    /** Maximum steps of a pause after a step that waited for drafts, and got none. */
    private static final int MAX_WAIT_PAUSE = 16;

    private final Drafter drafter;
    private final Drafts drafts;

    /** The part of a step that a draft costs at most; the request pauses if a smaller share of its drafts is accepted. */
    private final double cost;

    /** The share of accepted drafts; the last row has half of the weight, the row before it a quarter, and so on. */
    private double acceptance = 0.5;

    /** The step that ends the pause. */
    private long resumeStep;

    /** The next pause; doubles with each row without an accepted draft. */
    private int nextPause = MIN_PAUSE;

    /** The next pause after a step that waited in vain; doubles with each of them. */
    private int nextWaitPause = 1;

    Drafting(Drafter drafter, Sequence sequence, double cost) {
        this.drafter = drafter;
        this.cost = cost;
        try {
            this.drafts = sequence.newDrafts(drafter);
        } catch (Throwable thrown) {
            throw PolicyFailure.ofDrafter(drafter, thrown);
        }
    }

    /** Returns whether no pause includes a step. */
    boolean isDue(long step) {
        return step >= resumeStep;
    }

    /** Pauses for at least {@code steps} steps from {@code first} on. */
    private void pause(long first, int steps) {
        resumeStep = Math.ceilDiv(first + steps, steps) * steps;
    }

    /**
     * Proposes up to {@code max} tokens, which is positive; returns their number.
     *
     * @param step the step that verifies them
     * @param waited whether the step before ended first, so that the device was idle
     */
    int propose(Sequence sequence, long step, int max, int[] into, boolean waited) {
        if (!isDue(step)) {
            return 0;
        }
        double share = Math.min(1, acceptance / (FULL_ACCEPTANCE * cost));
        int wanted = Math.clamp(Math.round(share * drafter.maxTokens()), 1, max);
        try {
            int count = drafts.propose(sequence, wanted, into);
            check(count, wanted, into);
            if (count == 0 && waited && !drafts.isBehind()) {
                pause(step + 1, nextWaitPause);
                nextWaitPause = Math.min(2 * nextWaitPause, MAX_WAIT_PAUSE);
            }
            return count;
        } catch (Throwable thrown) {
            throw PolicyFailure.ofDrafter(drafter, thrown);
        }
    }

    /** Notifies the drafter that the request has ended with all its tokens. */
    void ended(Sequence sequence) {
        try {
            drafts.ended(sequence);
        } catch (Throwable thrown) {
            throw PolicyFailure.ofDrafter(drafter, thrown);
        }
    }

    private static void check(int count, int max, int... ids) {
        if (count < 0 || count > max) {
            throw new PolicyFailure.Misuse("proposed " + count + " tokens, not 0 to " + max);
        }
        for (int i = 0; i < count; i++) {
            if (ids[i] < 0) {
                throw new PolicyFailure.Misuse("proposed token id " + ids[i]);
            }
        }
    }

    /** Records how many of a row's drafts, at least one, were accepted; {@code step} is the next step. */
    void verified(long step, int drafted, int accepted) {
        acceptance += ((double) accepted / drafted - acceptance) / 2;
        if (accepted > 0) {
            nextPause = MIN_PAUSE;
            nextWaitPause = 1;
        }
        if (acceptance < cost) {
            pause(step, nextPause);
            nextPause = Math.min(2 * nextPause, MAX_PAUSE);
        }
    }
}
