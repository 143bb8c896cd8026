package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * A request of a load.
 *
 * @param dueNanos due time after the load's start
 * @param prompt the prompt
 * @param outputTokens maximum tokens to generate
 * @param structuredOutputs vLLM's field of this name, which restricts the completion to a grammar; empty if nothing does
 */
public record OfferedRequest(long dueNanos, Prompt prompt, int outputTokens, Optional<JsonNode> structuredOutputs) {
    public OfferedRequest {
        Objects.requireNonNull(prompt, "prompt");
        Objects.requireNonNull(structuredOutputs, "structuredOutputs");
        if (dueNanos < 0) {
            throw new BadInput("a request is due " + dueNanos + " ns after the start; it must be 0 or more");
        }
        if (outputTokens < 1) {
            throw new BadInput("a request asks for " + outputTokens + " tokens; it must be 1 or more");
        }
    }

    /** Creates a request for any text. */
    public OfferedRequest(long dueNanos, Prompt prompt, int outputTokens) {
        this(dueNanos, prompt, outputTokens, Optional.empty());
    }

    public OfferedRequest withDueNanos(long value) {
        return new OfferedRequest(value, prompt, outputTokens, structuredOutputs);
    }

    private OfferedRequest withPrompt(Prompt value) {
        return new OfferedRequest(0, value, outputTokens, structuredOutputs);
    }

    /**
     * Returns a request of the same size without a common prefix: token ids are resampled from this prompt, text is prefixed with the key.
     *
     * @param key seed of the new prompt
     */
    public OfferedRequest withOtherIds(long key) {
        return switch (prompt) {
            case Prompt.Text text -> withPrompt(new Prompt.Text(key + " " + text.text()));
            case Prompt.Tokens tokens -> {
                int[] ids = tokens.ids();
                int[] others = new int[ids.length];
                for (int i = 0; i < ids.length; i++) {
                    others[i] = ids[(int) (SplitMix64.uniform(key, i) * ids.length)];
                }
                yield withPrompt(new Prompt.Tokens(others));
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
