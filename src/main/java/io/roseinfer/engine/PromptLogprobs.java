package io.roseinfer.engine;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.engine.GeneratedToken.TopToken;
import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.stream.IntStream;

/**
 * The log-probabilities of a prompt's tokens. The engine's thread writes them before it delivers the request's first
 * token or its outcome; only then may they be read.
 */
final class PromptLogprobs {
    private final int[] ids;
    private final int tops;
    private final float[] logprobs;
    private final int[] ranks;
    /** The most likely tokens of the first position, then of the second and so on. */
    private final int[] topIds;

    private final float[] topLogprobs;

    /**
     * Allocates memory for a prompt.
     *
     * @param ids the prompt's ids, which do not change
     * @param tops number of most likely tokens at each position
     */
    PromptLogprobs(int[] ids, int tops) {
        this.ids = ids;
        this.tops = tops;
        logprobs = new float[ids.length];
        logprobs[0] = Float.NaN;
        ranks = new int[ids.length];
        topIds = new int[ids.length * tops];
        topLogprobs = new float[ids.length * tops];
    }

    /** Writes what a sample reports of the prompt's token at {@code index}, which is not the first. */
    void write(int index, StepOutputs outputs, int sample) {
        logprobs[index] = outputs.logprob(sample);
        ranks[index] = outputs.rank(sample);
        for (int rank = 0; rank < tops; rank++) {
            topIds[index * tops + rank] = outputs.topToken(sample, rank);
            topLogprobs[index * tops + rank] = outputs.topLogprob(sample, rank);
        }
    }

    /** Returns the tokens as a list that creates token objects on access; empty if they are not all computed. */
    List<PromptToken> tokens() {
        boolean complete = ids.length == 1 || ranks[ids.length - 1] > 0;
        return complete ? new Tokens(this) : List.of();
    }

    private PromptToken token(int index) {
        List<TopToken> most = index == 0
                ? List.of()
                : IntStream.range(index * tops, (index + 1) * tops)
                        .mapToObj(i -> new TopToken(topIds[i], topLogprobs[i]))
                        .toList();
        return new PromptToken(ids[index], logprobs[index], ranks[index], most);
    }

    static final class Tokens extends AbstractList<PromptToken> implements RandomAccess {
        private final PromptLogprobs of;

        Tokens(PromptLogprobs of) {
            this.of = of;
        }

        @Override
        public PromptToken get(int index) {
            return of.token(Objects.checkIndex(index, size()));
        }

        @Override
        public int size() {
            return of.ids.length;
        }
    }
}
