package io.roseinfer.sampling;

import io.roseinfer.base.RoseException.BadInput;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Sampling parameters. Names, defaults and semantics follow vLLM's {@code SamplingParams}; all values are validated
 * here.
 *
 * @param temperature 0 is greedy; otherwise logits are divided by it, (0, 100]
 * @param topK keep the k most likely tokens, 0 keeps all
 * @param topP keep the smallest set of most likely tokens whose probability reaches p, (0, 1]; the crossing token is
 *     kept
 * @param minP drop tokens less likely than minP times the most likely one, [0, 1)
 * @param repetitionPenalty divides positive and multiplies negative logits of tokens in prompt or completion, [0.01,
 *     100]
 * @param presencePenalty subtracted once from the logit of every token in the completion, [-2, 2]
 * @param frequencyPenalty subtracted per occurrence in the completion, [-2, 2]
 * @param logprobs number of most likely tokens to report with log-probabilities, at most {@value #MAX_LOGPROBS}; 0
 *     reports only the sampled token, -1 none
 */
public record SamplingParams(
        float temperature,
        int topK,
        float topP,
        float minP,
        float repetitionPenalty,
        float presencePenalty,
        float frequencyPenalty,
        int logprobs) {

    /** Maximum temperature. */
    public static final float MAX_TEMPERATURE = 100;

    /** Minimum repetition penalty. */
    public static final float MIN_REPETITION_PENALTY = 0.01f;

    /** Maximum repetition penalty. */
    public static final float MAX_REPETITION_PENALTY = 100;

    /** Maximum presence and frequency penalty; the minimum is its negative. */
    public static final float MAX_PENALTY = 2;

    /** Maximum alternatives reported per token, as in the OpenAI API. */
    public static final int MAX_LOGPROBS = 20;

    /**
     * Unsupported parameters of transformers and vLLM, as requests and {@code generation_config.json} spell them, with
     * the value that disables each.
     */
    public static final SortedMap<String, Integer> UNSUPPORTED = Collections.unmodifiableSortedMap(
            new TreeMap<>(Map.of("guidance_scale", 1, "no_repeat_ngram_size", 0, "num_beams", 1, "typical_p", 1)));

    private static final SamplingParams GREEDY = new SamplingParams(0, 0, 1, 0, 1, 0, 0, -1);

    public SamplingParams {
        BadInput.require(
                temperature >= 0 && temperature <= MAX_TEMPERATURE, "temperature", temperature, "0 (greedy) to 100");
        BadInput.require(topK >= 0, "top_k", topK, "0 (off) or more");
        BadInput.require(topP > 0 && topP <= 1, "top_p", topP, "above 0, at most 1");
        BadInput.require(minP >= 0 && minP < 1, "min_p", minP, "0 (off) to below 1");
        BadInput.require(
                repetitionPenalty >= MIN_REPETITION_PENALTY && repetitionPenalty <= MAX_REPETITION_PENALTY,
                "repetition_penalty",
                repetitionPenalty,
                "0.01 to 100; 1 is off");
        BadInput.require(
                presencePenalty >= -MAX_PENALTY && presencePenalty <= MAX_PENALTY,
                "presence_penalty",
                presencePenalty,
                "-2 to 2");
        BadInput.require(
                frequencyPenalty >= -MAX_PENALTY && frequencyPenalty <= MAX_PENALTY,
                "frequency_penalty",
                frequencyPenalty,
                "-2 to 2");
        BadInput.require(
                logprobs >= -1 && logprobs <= MAX_LOGPROBS, "logprobs", logprobs, "-1 (off) to " + MAX_LOGPROBS);
    }

    /** Returns parameters that always choose the most likely token; ties go to the lowest id. */
    public static SamplingParams greedy() {
        return GREEDY;
    }

    /** Returns parameters that sample from the unmodified distribution: temperature 1, no filters. */
    public static SamplingParams random() {
        return GREEDY.withTemperature(1);
    }

    /** Returns whether the most likely token is chosen, without a random number. */
    public boolean isGreedy() {
        return temperature == 0;
    }

    /** Returns whether the logits depend on earlier tokens. */
    public boolean hasPenalties() {
        return repetitionPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0;
    }

    /**
     * A parameter by its name in requests, flags and {@code generation_config.json}. All readers take the names from
     * here.
     */
    public enum Parameter {
        TEMPERATURE(true, true),
        TOP_K(true, true),
        TOP_P(true, true),
        MIN_P(true, true),
        REPETITION_PENALTY(false, true),
        PRESENCE_PENALTY(false, false),
        FREQUENCY_PENALTY(false, false);

        private final boolean needsDraw;
        private final boolean isRecommended;

        /**
         * Declares a parameter.
         *
         * @param needsDraw whether greedy requests ignore it
         * @param isRecommended whether {@code generation_config.json} can have it
         */
        Parameter(boolean needsDraw, boolean isRecommended) {
            this.needsDraw = needsDraw;
            this.isRecommended = isRecommended;
        }

        /** Returns the name in JSON, such as {@code top_k}. */
        public String field() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Returns the flag, such as {@code --top-k}. */
        public String flag() {
            return "--" + field().replace('_', '-');
        }

        /** Returns whether greedy requests ignore the parameter. */
        public boolean needsDraw() {
            return needsDraw;
        }

        /** Returns whether {@code generation_config.json} can have the parameter. */
        public boolean isRecommended() {
            return isRecommended;
        }

        /** Returns whether the value in requests is an integer. */
        public boolean isInteger() {
            return this == TOP_K;
        }

        /** Returns the value in {@code params}. */
        public double of(SamplingParams params) {
            return switch (this) {
                case TEMPERATURE -> params.temperature;
                case TOP_K -> params.topK;
                case TOP_P -> params.topP;
                case MIN_P -> params.minP;
                case REPETITION_PENALTY -> params.repetitionPenalty;
                case PRESENCE_PENALTY -> params.presencePenalty;
                case FREQUENCY_PENALTY -> params.frequencyPenalty;
            };
        }

        /** Returns {@code params} with another value; top-k is rounded, and a top-k of -1 is off. */
        public SamplingParams set(SamplingParams params, double value) {
            float single = (float) value;
            return switch (this) {
                case TEMPERATURE -> params.withTemperature(single);
                case TOP_K -> params.withTopK(value == -1 ? 0 : (int) Math.floor(value + 0.5));
                case TOP_P -> params.withTopP(single);
                case MIN_P -> params.withMinP(single);
                case REPETITION_PENALTY -> params.withRepetitionPenalty(single);
                case PRESENCE_PENALTY -> params.withPresencePenalty(single);
                case FREQUENCY_PENALTY -> params.withFrequencyPenalty(single);
            };
        }
    }

    /**
     * Returns a copy with another temperature; 0 is greedy.
     *
     * @throws BadInput unless it is 0 to 100
     */
    public SamplingParams withTemperature(float value) {
        return with(copy -> copy.temperature = value);
    }

    /**
     * Returns a copy with another top-k; 0 is off.
     *
     * @throws BadInput if it is negative
     */
    public SamplingParams withTopK(int value) {
        return with(copy -> copy.topK = value);
    }

    /**
     * Returns a copy with another top-p; 1 is off.
     *
     * @throws BadInput unless it is above 0, at most 1
     */
    public SamplingParams withTopP(float value) {
        return with(copy -> copy.topP = value);
    }

    /**
     * Returns a copy with another min-p; 0 is off.
     *
     * @throws BadInput unless it is 0 to below 1
     */
    public SamplingParams withMinP(float value) {
        return with(copy -> copy.minP = value);
    }

    /**
     * Returns a copy with another repetition penalty; 1 is off.
     *
     * @throws BadInput unless it is 0.01 to 100
     */
    public SamplingParams withRepetitionPenalty(float value) {
        return with(copy -> copy.repetitionPenalty = value);
    }

    /**
     * Returns a copy with another presence penalty; 0 is off.
     *
     * @throws BadInput unless it is -2 to 2
     */
    public SamplingParams withPresencePenalty(float value) {
        return with(copy -> copy.presencePenalty = value);
    }

    /**
     * Returns a copy with another frequency penalty; 0 is off.
     *
     * @throws BadInput unless it is -2 to 2
     */
    public SamplingParams withFrequencyPenalty(float value) {
        return with(copy -> copy.frequencyPenalty = value);
    }

    /**
     * Returns a copy with another number of most likely tokens to report; -1 is off.
     *
     * @throws BadInput unless it is -1 to {@value #MAX_LOGPROBS}
     */
    public SamplingParams withLogprobs(int value) {
        return with(copy -> copy.logprobs = value);
    }

    private SamplingParams with(Consumer<Copy> change) {
        Copy copy = new Copy(this);
        change.accept(copy);
        return copy.params();
    }

    /** The values of a copy that is being changed. */
    private static final class Copy {
        private float temperature;
        private int topK;
        private float topP;
        private float minP;
        private float repetitionPenalty;
        private float presencePenalty;
        private float frequencyPenalty;
        private int logprobs;

        Copy(SamplingParams from) {
            temperature = from.temperature;
            topK = from.topK;
            topP = from.topP;
            minP = from.minP;
            repetitionPenalty = from.repetitionPenalty;
            presencePenalty = from.presencePenalty;
            frequencyPenalty = from.frequencyPenalty;
            logprobs = from.logprobs;
        }

        SamplingParams params() {
            return new SamplingParams(
                    temperature, topK, topP, minP, repetitionPenalty, presencePenalty, frequencyPenalty, logprobs);
        }
    }
}
