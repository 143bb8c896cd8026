package io.roseinfer.bench.load;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * A request of a load.
 *
 * @param dueNanos scheduled time after the load's start
 * @param source the prompt, made when it is read
 * @param outputTokens length of the completion in simulated time; maximum tokens to generate elsewhere
 * @param constraints object with the fields of an HTTP request that restrict its completion or list its tools; empty without such fields
 * @param traits further facts for policies and results
 * @param next the next turn of a conversation; empty if it ends with this request
 */
public record OfferedRequest(
        long dueNanos,
        PromptSource source,
        int outputTokens,
        Optional<JsonNode> constraints,
        Traits traits,
        Optional<Turn> next) {
    /**
     * A later turn of a conversation. Its prompt is the previous turn's prompt, the generated answer, and the prompt of its request.
     *
     * @param thinkNanos time from the end of the previous answer until the turn's scheduled time
     * @param request the turn, with only the new part of the prompt; its scheduled time is not used
     */
    public record Turn(long thinkNanos, OfferedRequest request) {
        public Turn {
            Objects.requireNonNull(request, "request");
            if (thinkNanos < 0) {
                throw new BadInput("a think time is " + thinkNanos + " ns; it must be 0 or more");
            }
        }
    }

    /**
     * Facts about a request for policies and results; each is empty if unknown.
     *
     * @param tenant the tenant that the request belongs to
     * @param slo name of its class of objectives
     * @param priority higher is more urgent
     * @param deadlineMillis time after its arrival by which it should be complete, positive; known to policies
     * @param maxTokens maximum tokens to generate, known to policies; a simulated completion may be shorter
     * @param predictedTokens a prediction of the completion's length, known to policies
     * @param conversation number of the conversation that the request is a turn of
     * @param turn number of the turn, from 0
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Traits(
            Optional<String> tenant,
            Optional<String> slo,
            OptionalInt priority,
            OptionalDouble deadlineMillis,
            OptionalInt maxTokens,
            OptionalInt predictedTokens,
            OptionalInt conversation,
            OptionalInt turn) {
        private static final double NANOS_PER_MILLI = 1e6;

        /** No traits. */
        public static final Traits NONE = new Traits(
                Optional.empty(),
                Optional.empty(),
                OptionalInt.empty(),
                OptionalDouble.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                OptionalInt.empty());

        public Traits {
            Objects.requireNonNull(tenant, "tenant");
            Objects.requireNonNull(slo, "slo");
            Objects.requireNonNull(priority, "priority");
            Objects.requireNonNull(deadlineMillis, "deadlineMillis");
            Objects.requireNonNull(maxTokens, "maxTokens");
            Objects.requireNonNull(predictedTokens, "predictedTokens");
            Objects.requireNonNull(conversation, "conversation");
            Objects.requireNonNull(turn, "turn");
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
            return new Traits(
                    Optional.of(value), slo, priority, deadlineMillis, maxTokens, predictedTokens, conversation, turn);
        }

        public Traits withSlo(String value) {
            return new Traits(
                    tenant,
                    Optional.of(value),
                    priority,
                    deadlineMillis,
                    maxTokens,
                    predictedTokens,
                    conversation,
                    turn);
        }

        public Traits withPriority(int value) {
            return new Traits(
                    tenant, slo, OptionalInt.of(value), deadlineMillis, maxTokens, predictedTokens, conversation, turn);
        }

        public Traits withDeadlineMillis(double value) {
            return new Traits(
                    tenant, slo, priority, OptionalDouble.of(value), maxTokens, predictedTokens, conversation, turn);
        }

        public Traits withMaxTokens(int value) {
            return new Traits(
                    tenant, slo, priority, deadlineMillis, OptionalInt.of(value), predictedTokens, conversation, turn);
        }

        public Traits withPredictedTokens(int value) {
            return new Traits(
                    tenant, slo, priority, deadlineMillis, maxTokens, OptionalInt.of(value), conversation, turn);
        }

        /** Returns the traits of a turn of a conversation. */
        public Traits withTurn(int ofConversation, int number) {
            return new Traits(
                    tenant,
                    slo,
                    priority,
                    deadlineMillis,
                    maxTokens,
                    predictedTokens,
                    OptionalInt.of(ofConversation),
                    OptionalInt.of(number));
        }
    }

    public OfferedRequest {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(constraints, "constraints");
        Objects.requireNonNull(traits, "traits");
        Objects.requireNonNull(next, "next");
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
        return new OfferedRequest(dueNanos, source, outputTokens, Optional.empty(), Traits.NONE, Optional.empty());
    }

    /** Returns the prompt. */
    public Prompt prompt() {
        return source.prompt();
    }

    public OfferedRequest withDueNanos(long value) {
        return new OfferedRequest(value, source, outputTokens, constraints, traits, next);
    }

    public OfferedRequest withPrompt(Prompt value) {
        return withSource(PromptSource.of(value));
    }

    public OfferedRequest withSource(PromptSource value) {
        return new OfferedRequest(dueNanos, value, outputTokens, constraints, traits, next);
    }

    public OfferedRequest withOutputTokens(int value) {
        return new OfferedRequest(dueNanos, source, value, constraints, traits, next);
    }

    public OfferedRequest withConstraints(Optional<JsonNode> value) {
        return new OfferedRequest(dueNanos, source, outputTokens, value, traits, next);
    }

    public OfferedRequest withTraits(Traits value) {
        return new OfferedRequest(dueNanos, source, outputTokens, constraints, value, next);
    }

    /** Returns the request with a next turn. */
    public OfferedRequest withNext(Turn value) {
        return new OfferedRequest(dueNanos, source, outputTokens, constraints, traits, Optional.of(value));
    }

    /** Returns the request without later turns. */
    public OfferedRequest withoutNext() {
        return new OfferedRequest(dueNanos, source, outputTokens, constraints, traits, Optional.empty());
    }

    /** Returns this request and its later turns, each changed. */
    public OfferedRequest mapTurns(UnaryOperator<OfferedRequest> change) {
        List<OfferedRequest> turns = turns().toList();
        OfferedRequest changed = change.apply(turns.getLast());
        for (int i = turns.size() - 2; i >= 0; i--) {
            long think = turns.get(i).next().orElseThrow().thinkNanos();
            changed = change.apply(turns.get(i)).withNext(new Turn(think, changed));
        }
        return changed;
    }

    /** Returns this request and its later turns, in order. */
    public Stream<OfferedRequest> turns() {
        return Stream.iterate(
                        Optional.of(this),
                        Optional::isPresent,
                        turn -> turn.flatMap(OfferedRequest::next).map(Turn::request))
                .map(Optional::orElseThrow);
    }

    /**
     * Returns this turn with its whole prompt.
     *
     * @param before token ids of the previous turn's whole prompt
     * @param answer token ids of the previous answer
     */
    public OfferedRequest after(int[] before, int[] answer) {
        if (!(prompt() instanceof Prompt.Tokens tokens)) {
            throw new BadInput("a turn of a conversation has a text prompt; it must be token ids");
        }
        int[] own = tokens.ids();
        int[] all = Arrays.copyOf(before, before.length + answer.length + own.length);
        System.arraycopy(answer, 0, all, before.length, answer.length);
        System.arraycopy(own, 0, all, before.length + answer.length, own.length);
        return withPrompt(new Prompt.Tokens(all));
    }

    /** Returns the maximum tokens to generate; without one among the traits, the output tokens. */
    public int maxTokens() {
        return traits.maxTokens().orElse(outputTokens);
    }

    /**
     * Returns a request of the same size without a common prefix and without later turns, scheduled at the start: token ids are resampled from this prompt, text is
     * prefixed with the key.
     *
     * @param key seed of the new prompt
     */
    public OfferedRequest withOtherIds(long key) {
        OfferedRequest atStart = withoutNext().withDueNanos(0);
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
