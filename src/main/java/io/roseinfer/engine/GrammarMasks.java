package io.roseinfer.engine;

import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.base.TokenMask;
import io.roseinfer.grammar.CompiledGrammar;
import io.roseinfer.grammar.GrammarCursor;
import io.roseinfer.sampling.LogitConstraints.Target;
import io.roseinfer.sampling.MaskSource;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The masks by which a grammar restricts one attempt of a request. The engine's thread appends tokens; {@link MaskWorkers}
 * compute the masks. While a mask is being computed, only the worker uses the cursor and the mask.
 *
 * <p>Where the grammar fixes the text, the worker goes on by the token that is likely to be next, so such tokens can be drafts. If the
 * request samples another one, the worker goes back.
 */
final class GrammarMasks implements MaskSource {
    /**
     * The state shared by all attempts of a request.
     *
     * @param ends tokens that end the completion; allowed only where the text may end
     * @param allowed the only tokens that the request allows; empty if it allows all
     * @param maxLikely maximum likely tokens to find at a time
     */
    record Terms(
            LiveRequest request,
            CompiledGrammar grammar,
            int[] ends,
            Optional<TokenMask> allowed,
            int maxLikely,
            MaskWorkers workers) {}

    private final Terms terms;
    private final GrammarCursor cursor;
    /** The mask after all likely tokens. */
    private final TokenMask mask;

    /** Likely tokens before the mask; the cursor is after them. */
    private final int[] likely;
    /** The masks of likely tokens, created when they are needed. */
    private final @Nullable TokenMask[] likelyMasks;

    private int likelyCount;
    /** Likely tokens that have been appended. */
    private int appendedLikely;

    private @Nullable MaskSignals signals;
    private int appended;

    private volatile boolean ready;
    private volatile @Nullable RoseException failure;

    /** Computes the first mask. */
    GrammarMasks(Terms terms) {
        this.terms = terms;
        this.cursor = terms.grammar().newCursor();
        this.mask = terms.grammar().newMask();
        this.likely = new int[terms.maxLikely()];
        this.likelyMasks = new TokenMask[terms.maxLikely()];
        updateMasks();
        this.ready = true;
    }

    /** Sets where workers report; called by the loop that admits the request. */
    void reportTo(MaskSignals loop) {
        signals = loop;
    }

    @Override
    public boolean needsTokens() {
        return true;
    }

    @Override
    public boolean isReady() {
        return ready;
    }

    @Override
    public void append(int token) {
        if (appendedLikely < likelyCount && likely[appendedLikely] == token) {
            appendedLikely++;
            return;
        }
        appended = token;
        ready = false;
        Objects.requireNonNull(signals).requested();
        terms.workers().submit(this);
    }

    @Override
    public int likelyTokens(int max, int[] into) {
        int count = ready ? Math.min(max, likelyCount - appendedLikely) : 0;
        System.arraycopy(likely, appendedLikely, into, 0, count);
        return count;
    }

    @Override
    public void apply(int ahead, Target target) {
        int index = appendedLikely + ahead;
        target.mask(index < likelyCount ? Objects.requireNonNull(likelyMasks[index]) : mask);
    }

    /** Returns the masks of another attempt of the request, from its first sample on. */
    GrammarMasks restart() {
        return new GrammarMasks(terms);
    }

    /** Returns why a mask could not be computed; empty if none failed. */
    Optional<RoseException> failure() {
        return Optional.ofNullable(failure);
    }

    LiveRequest request() {
        return terms.request();
    }

    /** Computes the mask after the token appended last, or ends the request if its text is complete or the mask fails. */
    void compute() {
        boolean isDone = false;
        try {
            // The likely tokens in whose place another one was sampled.
            cursor.rollback(likelyCount - appendedLikely);
            Check.that(
                    cursor.advance(appended),
                    "token %d, after %d others, is not in its grammar; a custom device must apply StepInputs.mask",
                    appended,
                    cursor.length());
            isDone = cursor.isDone();
            if (!isDone) {
                updateMasks();
            }
        } catch (Throwable e) { // reported to the request's reader
            failure = failedBy(e);
        }
        boolean hasEnded = isDone || failure != null;
        ready = !hasEnded;
        Objects.requireNonNull(signals).computed(hasEnded ? terms.request() : null);
    }

    /** Computes the next mask, and those after likely tokens. */
    private void updateMasks() {
        likelyCount = 0;
        appendedLikely = 0;
        updateMask();
        while (likelyCount < likely.length && goOnByLikelyToken()) {
            likelyCount++;
        }
    }

    /**
     * Goes on by the likely token, and computes the mask after it.
     *
     * @return false, with everything as before, if there is none, it completes the text, or the grammar exceeds a limit after it: then it
     *     will also exceed it once the token has been sampled
     */
    private boolean goOnByLikelyToken() {
        int token = cursor.likelyToken(mask);
        if (token == TokenMask.NONE) {
            return false;
        }
        TokenMask before = likelyMask(likelyCount);
        before.set(mask);
        int length = cursor.length();
        try {
            if (cursor.advance(token) && !cursor.isDone()) {
                updateMask();
                likely[likelyCount] = token;
                return true;
            }
        } catch (RoseException e) { // repeated when the token has been sampled
            mask.set(before);
        }
        cursor.rollback(cursor.length() - length);
        return false;
    }

    private TokenMask likelyMask(int index) {
        TokenMask known = likelyMasks[index];
        if (known == null) {
            known = terms.grammar().newMask();
            likelyMasks[index] = known;
        }
        return known;
    }

    private void updateMask() {
        cursor.mask(mask);
        boolean mayEnd = cursor.isAccepting();
        for (int end : terms.ends()) {
            if (mayEnd) {
                mask.allow(end);
            } else {
                mask.forbid(end);
            }
        }
        if (terms.allowed().isPresent()) {
            mask.and(terms.allowed().get());
        }
    }

    private static RoseException failedBy(Throwable e) {
        return switch (e) {
            case RoseException known -> known;
            case OutOfMemoryError full ->
                new InsufficientMemory(
                        "out of memory while computing a grammar's mask; give the JVM more (-Xmx), or submit less",
                        full);
            default -> new EngineStopped("computing a grammar's mask failed: " + e, e);
        };
    }
}
