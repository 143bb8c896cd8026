package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.Objects;

/**
 * One request of a load, and when it is due.
 *
 * @param dueNanos after the load's start
 * @param prompt what is to be continued
 * @param outputTokens most tokens to generate
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
     * A request of the same size that shares no beginning with this one: other ids, of those that this one has; a text stays, with the
     * key in front.
     *
     * @param key the same key gives the same request
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

    /** Token ids of the prompt; -1 for text, whose tokens only its reader knows. */
    public int promptTokens() {
        return switch (prompt) {
            case Prompt.Tokens tokens -> tokens.ids().length;
            case Prompt.Text text -> -1;
        };
    }
}
