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
 */
final class GrammarMasks implements MaskSource {
    /**
     * The state shared by all attempts of a request.
     *
     * @param ends tokens that end the completion; allowed only where the text may end
     * @param allowed the only tokens that the request allows; empty if it allows all
     */
    record Terms(
            LiveRequest request,
            CompiledGrammar grammar,
            int[] ends,
            Optional<TokenMask> allowed,
            MaskWorkers workers) {}

    private final Terms terms;
    private final GrammarCursor cursor;
    private final TokenMask mask;
    private @Nullable MaskSignals signals;
    private int appended;

    private volatile boolean ready;
    private volatile @Nullable RoseException failure;

    /** Computes the first mask. */
    GrammarMasks(Terms terms) {
        this.terms = terms;
        this.cursor = terms.grammar().newCursor();
        this.mask = terms.grammar().newMask();
        updateMask();
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
        appended = token;
        ready = false;
        Objects.requireNonNull(signals).requested();
        terms.workers().submit(this);
    }

    @Override
    public void apply(Target target) {
        target.mask(mask);
    }

    @Override
    public MaskSource restart() {
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
            Check.that(
                    cursor.advance(appended),
                    "token %d, after %d others, is not in its grammar",
                    appended,
                    cursor.length());
            isDone = cursor.isDone();
            if (!isDone) {
                updateMask();
            }
        } catch (Throwable e) { // reported to the request's reader
            failure = failedBy(e);
        }
        boolean hasEnded = isDone || failure != null;
        ready = !hasEnded;
        Objects.requireNonNull(signals).computed(hasEnded ? terms.request() : null);
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
