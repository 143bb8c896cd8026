package io.roseinfer.scheduler;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.Drafter.Drafts;

/**
 * The drafts of one request. Their number depends on how many of the latest ones were accepted, and on what they cost; if none
 * pays, the request pauses. Pauses end at steps whose number is a multiple of their length, so that requests end them together:
 * the device waits for the host before each step that may have drafts.
 */
final class Drafting {
    /** The assumed acceptance of a request without drafts so far; high, so that its first row has several. */
    private static final double INITIAL_ACCEPTANCE = 0.85;

    /** The weight of a row's drafts when the next row's are verified. */
    private static final double DECAY = 0.7;

    /** Steps, powers of two. */
    private static final int MIN_PAUSE = 4;

    private static final int MAX_PAUSE = 128;

    /** Maximum steps of a pause after a step that waited for drafts, and got none. */
    private static final int MAX_WAIT_PAUSE = 16;

    private final Drafter drafter;
    private final Drafts drafts;
    private final TokenHistory tokens;

    private final DraftCost cost;
    private final int vocabularySize;

    /** Accepted drafts, weighted. */
    private double accepted = INITIAL_ACCEPTANCE;

    /** Accepted drafts and the first rejected one of each row, weighted. Later ones are not verified. */
    private double tried = 1;

    /** The step that ends the pause. */
    private long resumeStep;

    /** The next pause; doubles with each row without an accepted draft. */
    private int nextPause = MIN_PAUSE;

    /** The next pause after a step that waited in vain; doubles with each of them. */
    private int nextWaitPause = 1;

    /** Creates the drafts of a sequence, which are ids below {@code vocabularySize}. */
    Drafting(Drafter drafter, Sequence sequence, DraftCost cost, int vocabularySize) {
        this.drafter = drafter;
        this.cost = cost;
        this.vocabularySize = vocabularySize;
        this.tokens = new RequestView.Tokens(sequence);
        try {
            Drafts created = sequence.newDrafts(drafter);
            if (created == null) {
                throw new ExtensionFailure.Misuse("returned null from newDrafts");
            }
            this.drafts = created;
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofDrafter(drafter, thrown);
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
     * @param rows rows of the step
     * @param waited whether the step before ended first, so that the device was idle
     */
    int propose(long step, int rows, int max, int[] into, boolean waited) {
        if (!isDue(step)) {
            return 0;
        }
        // A pause ends with at least one draft, to learn whether acceptance has changed.
        int wanted = Math.max(1, bestDrafts(rows, max));
        try {
            int count = drafts.propose(tokens, wanted, into);
            check(count, wanted, into);
            if (count == 0 && waited && !drafts.isBehind()) {
                pause(step + 1, nextWaitPause);
                nextWaitPause = Math.min(2 * nextWaitPause, MAX_WAIT_PAUSE);
            }
            return count;
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofDrafter(drafter, thrown);
        }
    }

    private int bestDrafts(int rows, int max) {
        return cost.bestDrafts(rows, max, accepted / tried);
    }

    /** Notifies the drafter that the request has ended with all its tokens. */
    void ended() {
        try {
            drafts.ended(tokens);
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofDrafter(drafter, thrown);
        }
    }

    /**
     * Fails unless a drafter's maximum is allowed.
     *
     * @throws BadInput if it is out of range
     */
    static void checkMaximum(Drafter drafter) {
        int drafts;
        try {
            drafts = drafter.maxTokens();
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofDrafter(drafter, thrown);
        }
        BadInput.require(
                drafts >= 0 && drafts < Drafter.MAX_ROW_TOKENS,
                "maxTokens of the drafter " + drafter.getClass().getName(),
                drafts,
                "0 to " + (Drafter.MAX_ROW_TOKENS - 1));
    }

    private void check(int count, int max, int... ids) {
        if (count < 0 || count > max) {
            throw new ExtensionFailure.Misuse("proposed " + count + " tokens, not 0 to " + max);
        }
        for (int i = 0; i < count; i++) {
            if (ids[i] < 0 || ids[i] >= vocabularySize) {
                throw new ExtensionFailure.Misuse(
                        "proposed token id " + ids[i] + "; allowed are 0 to " + (vocabularySize - 1));
            }
        }
    }

    /** Records how many of a row's drafts, at least one, were accepted, in a step of {@code rows} rows; {@code step} is the next one. */
    void verified(long step, int rows, int drafted, int right) {
        accepted = DECAY * accepted + right;
        tried = DECAY * tried + Math.min(drafted, right + 1);
        if (right > 0) {
            nextPause = MIN_PAUSE;
            nextWaitPause = 1;
        }
        if (bestDrafts(rows, drafter.maxTokens()) == 0) {
            pause(step, nextPause);
            nextPause = Math.min(2 * nextPause, MAX_PAUSE);
        }
    }
}
