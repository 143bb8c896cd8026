package io.roseinfer.sampling;

import io.roseinfer.base.RoseException.BadInput;

/**
 * How the next token is chosen. Names, defaults and meaning follow vLLM's {@code SamplingParams}; everything is validated here,
 * once.
 *
 * @param temperature 0 is greedy; otherwise logits are divided by it, (0, 100]
 * @param topK keep the k most likely tokens, 0 keeps all
 * @param topP keep the smallest set of most likely tokens whose probability reaches p, (0, 1]; the crossing token is kept
 * @param minP drop tokens less likely than minP times the likeliest, [0, 1)
 * @param repetitionPenalty divides positive and multiplies negative logits of tokens seen in prompt or completion, [0.01, 100]
 * @param presencePenalty subtracted once from the logit of every token of the completion, [-2, 2]
 * @param frequencyPenalty subtracted per occurrence in the completion, [-2, 2]
 * @param logprobs how many most likely tokens to report with their log-probabilities beside the chosen one: -1 reports nothing,
 *     0 the chosen token's alone, at most {@value #MAX_LOGPROBS}
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

    /** Highest temperature. */
    public static final float MAX_TEMPERATURE = 100;

    /** Lowest repetition penalty. */
    public static final float MIN_REPETITION_PENALTY = 0.01f;

    /** Highest repetition penalty. */
    public static final float MAX_REPETITION_PENALTY = 100;

    /** Highest presence and frequency penalty; the lowest is its negative. */
    public static final float MAX_PENALTY = 2;

    /** Maximum alternatives reported per token, as in the OpenAI API. */
    public static final int MAX_LOGPROBS = 20;

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

    /** Always the most likely token, the lowest id on a tie. */
    public static SamplingParams greedy() {
        return GREEDY;
    }

    /** Draws from the unmodified distribution: temperature 1, nothing filtered. */
    public static SamplingParams random() {
        return GREEDY.withTemperature(1);
    }

    /** Whether the most likely token is taken without a draw. */
    public boolean isGreedy() {
        return temperature == 0;
    }

    /** Whether the logits depend on tokens seen before. */
    public boolean hasPenalties() {
        return repetitionPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0;
    }

    public SamplingParams withTemperature(float value) {
        return new SamplingParams(
                value, topK, topP, minP, repetitionPenalty, presencePenalty, frequencyPenalty, logprobs);
    }

    public SamplingParams withTopK(int value) {
        return new SamplingParams(
                temperature, value, topP, minP, repetitionPenalty, presencePenalty, frequencyPenalty, logprobs);
    }

    public SamplingParams withTopP(float value) {
        return new SamplingParams(
                temperature, topK, value, minP, repetitionPenalty, presencePenalty, frequencyPenalty, logprobs);
    }

    public SamplingParams withMinP(float value) {
        return new SamplingParams(
                temperature, topK, topP, value, repetitionPenalty, presencePenalty, frequencyPenalty, logprobs);
    }

    public SamplingParams withRepetitionPenalty(float value) {
        return new SamplingParams(temperature, topK, topP, minP, value, presencePenalty, frequencyPenalty, logprobs);
    }

    public SamplingParams withPresencePenalty(float value) {
        return new SamplingParams(temperature, topK, topP, minP, repetitionPenalty, value, frequencyPenalty, logprobs);
    }

    public SamplingParams withFrequencyPenalty(float value) {
        return new SamplingParams(temperature, topK, topP, minP, repetitionPenalty, presencePenalty, value, logprobs);
    }

    public SamplingParams withLogprobs(int value) {
        return new SamplingParams(
                temperature, topK, topP, minP, repetitionPenalty, presencePenalty, frequencyPenalty, value);
    }
}
