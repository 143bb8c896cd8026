package io.roseinfer.backend;

import io.roseinfer.sampling.SamplingParams;
import java.util.Arrays;
import java.util.Objects;

/**
 * A step's results: a token per sample, in the order of the inputs, with log-probabilities if requested. The token of a sample that reports
 * is the one it reports. Preallocated; arrays are read in place.
 */
public final class StepOutputs {
    /** The status of a sample. */
    public enum Status {
        OK,
        /** The logits contain NaN or no finite value: the sample's request fails, others are unaffected. */
        NON_FINITE,
        /** Mask and biases forbid every token with a finite logit: the sample's request fails, others are unaffected. */
        NO_ALLOWED_TOKEN
    }

    private final int[] tokens;
    private final Status[] statuses;
    private final float[] logprobs;
    private final int[] ranks;
    private final int[] topTokens;
    private final float[] topLogprobs;

    public StepOutputs(int maxSamples) {
        tokens = new int[maxSamples];
        statuses = new Status[maxSamples];
        Arrays.fill(statuses, Status.OK);
        logprobs = new float[maxSamples];
        ranks = new int[maxSamples];
        topTokens = new int[maxSamples * SamplingParams.MAX_LOGPROBS];
        topLogprobs = new float[maxSamples * SamplingParams.MAX_LOGPROBS];
    }

    public int token(int sample) {
        return tokens[sample];
    }

    public Status status(int sample) {
        return statuses[sample];
    }

    /** Returns the log-probability of the sample's token, before mask, biases, penalties, temperature and filters. */
    public float logprob(int sample) {
        return logprobs[sample];
    }

    /** Returns the rank of a reported token by likelihood, from 1; set for samples that report. Ties go to the lower id. */
    public int rank(int sample) {
        return ranks[sample];
    }

    /** Returns the {@code rank}-th most likely token, counted from zero. */
    public int topToken(int sample, int rank) {
        return topTokens[sample * SamplingParams.MAX_LOGPROBS + rank];
    }

    public float topLogprob(int sample, int rank) {
        return topLogprobs[sample * SamplingParams.MAX_LOGPROBS + rank];
    }

    public void set(int sample, int token, Status outcome) {
        tokens[sample] = token;
        statuses[sample] = Objects.requireNonNull(outcome, "outcome");
    }

    public void setRank(int sample, int rank) {
        ranks[sample] = rank;
    }

    public void setLogprob(int sample, float logprob) {
        logprobs[sample] = logprob;
    }

    public void setTop(int sample, int rank, int token, float logprob) {
        topTokens[sample * SamplingParams.MAX_LOGPROBS + rank] = token;
        topLogprobs[sample * SamplingParams.MAX_LOGPROBS + rank] = logprob;
    }
}
