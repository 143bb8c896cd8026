package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.Objects;

/**
 * A request of a load.
 *
 * @param dueNanos due time after the load's start
 * @param prompt the prompt
 * @param outputTokens maximum tokens to generate
 */
public record OfferedRequest(long dueNanos, Prompt prompt, int outputTokens) {
    public OfferedRequest {
        Objects.requireNonNull(prompt, "prompt");
        if (dueNanos < 0) {
            throw new BadInput("a request is due " + dueNanos + " ns after the start; it must be 0 or more");
        }
        if (outputTokens < 1) {
            throw new BadInput("a request asks for " + outputTokens + " tokens; it must be 1 or more");
        }
    }

    public OfferedRequest withDueNanos(long value) {
        return new OfferedRequest(value, prompt, outputTokens);
    }

    /**
     * Returns a request of the same size without a common prefix: token ids are resampled from this prompt, text is prefixed with the key.
     *
     * @param key seed of the new prompt
     */
    public OfferedRequest withOtherIds(long key) {
        return switch (prompt) {
            case Prompt.Text text -> new OfferedRequest(0, new Prompt.Text(key + " " + text.text()), outputTokens);
            case Prompt.Tokens tokens -> {
                int[] ids = tokens.ids();
                int[] others = new int[ids.length];
                for (int i = 0; i < ids.length; i++) {
                    others[i] = ids[(int) (SplitMix64.uniform(key, i) * ids.length)];
                }
                yield new OfferedRequest(0, new Prompt.Tokens(others), outputTokens);
            }
        };
    }

    /** Returns the number of prompt tokens; -1 for text, which is not tokenized here. */
    public int promptTokens() {
        return switch (prompt) {
            case Prompt.Tokens tokens -> tokens.ids().length;
            case Prompt.Text text -> -1;
        };
    }
}
