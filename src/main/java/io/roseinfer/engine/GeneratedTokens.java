package io.roseinfer.engine;

import io.roseinfer.engine.GeneratedToken.TopToken;
import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.stream.IntStream;

/** The tokens of a completion in arrays. One becomes an object when somebody looks at it, which few do. */
final class GeneratedTokens extends AbstractList<GeneratedToken> implements RandomAccess {
    private final int[] ids;
    private final String text;
    private final int[] ends;
    private final float[] logprobs;
    private final int[] topIds;
    private final float[] topLogprobs;

    /**
     * Tokens of arrays that nobody else writes.
     *
     * @param text of all of them
     * @param ends for each where its text ends in {@code text}
     * @param logprobs one for each token; empty if none were asked for
     * @param topIds the likeliest tokens of the first, then those of the second: as many for each; empty if none were asked for
     * @param topLogprobs as {@code topIds}
     */
    GeneratedTokens(int[] ids, String text, int[] ends, float[] logprobs, int[] topIds, float[] topLogprobs) {
        this.ids = ids;
        this.text = text;
        this.ends = ends;
        this.logprobs = logprobs;
        this.topIds = topIds;
        this.topLogprobs = topLogprobs;
    }

    /** The likeliest tokens that belong to one, out of those of all. */
    static List<TopToken> top(int[] ids, float[] logprobs, int each, int index) {
        return each == 0
                ? List.of()
                : IntStream.range(index * each, (index + 1) * each)
                        .mapToObj(i -> new TopToken(ids[i], logprobs[i]))
                        .toList();
    }

    @Override
    public GeneratedToken get(int index) {
        Objects.checkIndex(index, ids.length);
        return new GeneratedToken(
                ids[index],
                text.substring(index == 0 ? 0 : ends[index - 1], ends[index]),
                logprobs.length == 0 ? Float.NaN : logprobs[index],
                top(topIds, topLogprobs, topIds.length / ids.length, index));
    }

    @Override
    public int size() {
        return ids.length;
    }
}
