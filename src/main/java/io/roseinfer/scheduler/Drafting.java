package io.roseinfer.scheduler;

import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.Drafter.Drafts;

/**
 * The drafts of one request. How many there are depends on how many of the latest ones were accepted; if these are few, the
 * request pauses.
 */
final class Drafting {
    /** The share of accepted drafts below which a request pauses: a draft costs about this part of a step. */
    private static final double MIN_ACCEPTANCE = 0.25;

    private static final int MIN_PAUSE = 4;
    private static final int MAX_PAUSE = 128;

    private final Drafter drafter;
    private final Drafts drafts;

    /** The share of accepted drafts; the last row has half of the weight, the row before it a quarter, and so on. */
    private double acceptance = 0.5;

    /** Steps that remain of the pause. */
    private int pause;

    /** The next pause; doubles with each row without an accepted draft. */
    private int nextPause = MIN_PAUSE;

    Drafting(Drafter drafter) {
        this.drafter = drafter;
        try {
            this.drafts = drafter.newDrafts();
        } catch (Throwable thrown) {
            throw PolicyFailure.ofDrafter(drafter, thrown);
        }
    }

    /** Proposes up to {@code max} tokens, which is positive; returns their number. */
    int propose(Sequence sequence, int max, int[] into) {
        if (pause > 0) {
            pause--;
            return 0;
        }
        int wanted = Math.clamp(Math.round(acceptance * drafter.maxTokens()), 1, max);
        try {
            int count = drafts.propose(sequence, wanted, into);
            check(count, wanted, into);
            return count;
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

    /** Records how many of a row's drafts, at least one, were accepted. */
    void verified(int drafted, int accepted) {
        acceptance += ((double) accepted / drafted - acceptance) / 2;
        if (accepted > 0) {
            nextPause = MIN_PAUSE;
        }
        if (acceptance < MIN_ACCEPTANCE) {
            pause = nextPause;
            nextPause = Math.min(2 * nextPause, MAX_PAUSE);
        }
    }
}
