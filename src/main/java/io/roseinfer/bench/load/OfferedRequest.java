package io.roseinfer.bench.load;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/**
 * A request of a load.
 *
 * @param dueNanos due time after the load's start
 * @param source the prompt, made when it is read
 * @param outputTokens length of the completion in simulated time; maximum tokens to generate elsewhere
 * @param structuredOutputs vLLM's field of this name, which restricts the completion to a grammar; empty if nothing does
 * @param traits further facts for policies and results
 */
public record OfferedRequest(
        long dueNanos, PromptSource source, int outputTokens, Optional<JsonNode> structuredOutputs, Traits traits) {
    /**
     * Facts about a request for policies and results; each is empty if unknown.
     *
     * @param tenant the tenant that the request belongs to
     * @param slo name of its class of objectives
     * @param priority higher is more urgent
     * @param deadlineMillis time after its arrival by which it should be complete, positive; known to policies
     * @param maxTokens maximum tokens to generate, known to policies; a simulated completion may be shorter
     * @param predictedTokens a prediction of the completion's length, known to policies
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Traits(
            Optional<String> tenant,
            Optional<String> slo,
            OptionalInt priority,
            OptionalDouble deadlineMillis,
            OptionalInt maxTokens,
            OptionalInt predictedTokens) {
        private static final double NANOS_PER_MILLI = 1e6;

        /** No traits. */
        public static final Traits NONE = new Traits(
                Optional.empty(),
                Optional.empty(),
                OptionalInt.empty(),
                OptionalDouble.empty(),
                OptionalInt.empty(),
                OptionalInt.empty());

        public Traits {
            Objects.requireNonNull(tenant, "tenant");
            Objects.requireNonNull(slo, "slo");
            Objects.requireNonNull(priority, "priority");
            Objects.requireNonNull(deadlineMillis, "deadlineMillis");
            Objects.requireNonNull(maxTokens, "maxTokens");
            Objects.requireNonNull(predictedTokens, "predictedTokens");
        }

        /** Returns a request with the traits that policies see. */
        public GenerationRequest addTo(GenerationRequest request) {
            GenerationRequest known = request.withPriority(priority.orElse(0)).withTenant(tenant.orElse(""));
            if (predictedTokens.isPresent()) {
                known = known.withPredictedNewTokens(predictedTokens.getAsInt());
            }
            return deadlineMillis.isPresent()
                    ? known.withTarget(Duration.ofNanos(Math.round(deadlineMillis.getAsDouble() * NANOS_PER_MILLI)))
                    : known;
        }

        public Traits withTenant(String value) {
            return new Traits(Optional.of(value), slo, priority, deadlineMillis, maxTokens, predictedTokens);
        }

        public Traits withSlo(String value) {
            return new Traits(tenant, Optional.of(value), priority, deadlineMillis, maxTokens, predictedTokens);
        }

        public Traits withPriority(int value) {
            return new Traits(tenant, slo, OptionalInt.of(value), deadlineMillis, maxTokens, predictedTokens);
        }

        public Traits withDeadlineMillis(double value) {
            return new Traits(tenant, slo, priority, OptionalDouble.of(value), maxTokens, predictedTokens);
        }

        public Traits withMaxTokens(int value) {
            return new Traits(tenant, slo, priority, deadlineMillis, OptionalInt.of(value), predictedTokens);
        }

        public Traits withPredictedTokens(int value) {
            return new Traits(tenant, slo, priority, deadlineMillis, maxTokens, OptionalInt.of(value));
        }
    }

    public OfferedRequest {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(structuredOutputs, "structuredOutputs");
        Objects.requireNonNull(traits, "traits");
        if (dueNanos < 0) {
            throw new BadInput("a request is due " + dueNanos + " ns after the start; it must be 0 or more");
        }
        if (outputTokens < 1) {
            throw new BadInput("a request asks for " + outputTokens + " tokens; it must be 1 or more");
        }
    }

    /** Creates a request without a grammar and without traits. */
    public static OfferedRequest of(long dueNanos, Prompt prompt, int outputTokens) {
        return of(dueNanos, PromptSource.of(prompt), outputTokens);
    }

    /** Creates a request without a grammar and without traits. */
    static OfferedRequest of(long dueNanos, PromptSource source, int outputTokens) {
        return new OfferedRequest(dueNanos, source, outputTokens, Optional.empty(), Traits.NONE);
    }

    /** Returns the prompt. */
    public Prompt prompt() {
        return source.prompt();
    }

    public OfferedRequest withDueNanos(long value) {
        return new OfferedRequest(value, source, outputTokens, structuredOutputs, traits);
    }

    public OfferedRequest withPrompt(Prompt value) {
        return withSource(PromptSource.of(value));
    }

    public OfferedRequest withSource(PromptSource value) {
        return new OfferedRequest(dueNanos, value, outputTokens, structuredOutputs, traits);
    }

    public OfferedRequest withOutputTokens(int value) {
        return new OfferedRequest(dueNanos, source, value, structuredOutputs, traits);
    }

    public OfferedRequest withStructuredOutputs(Optional<JsonNode> value) {
        return new OfferedRequest(dueNanos, source, outputTokens, value, traits);
    }

    public OfferedRequest withTraits(Traits value) {
        return new OfferedRequest(dueNanos, source, outputTokens, structuredOutputs, value);
    }

    /** Returns the maximum tokens to generate; without one among the traits, the output tokens. */
    public int maxTokens() {
        return traits.maxTokens().orElse(outputTokens);
    }

    /**
     * Returns a request of the same size without a common prefix, due at the start: token ids are resampled from this prompt, text is
     * prefixed with the key.
     *
     * @param key seed of the new prompt
     */
    public OfferedRequest withOtherIds(long key) {
        OfferedRequest atStart = withDueNanos(0);
        return switch (prompt()) {
            case Prompt.Text text -> atStart.withPrompt(new Prompt.Text(key + " " + text.text()));
            case Prompt.Tokens tokens -> {
                int[] ids = tokens.ids();
                int[] others = new int[ids.length];
                for (int i = 0; i < ids.length; i++) {
                    others[i] = ids[(int) (SplitMix64.uniform(key, i) * ids.length)];
                }
                yield atStart.withPrompt(new Prompt.Tokens(others));
            }
        };
    }

    /** Returns the number of prompt tokens; -1 for text, which is not tokenized here. */
    public int promptTokens() {
        return source.tokens();
    }
}
