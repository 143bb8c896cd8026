package io.roseinfer.sampling;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.base.TokenMask;
import java.util.Arrays;

/**
 * The reference sampler: turns one row of logits into a token, with sums in double precision. The order of operations
 * is vLLM's: mask of allowed tokens, biases, penalties, temperature, min-p, top-k and top-p, then one draw by inverse
 * transform sampling. Tokens are visited most likely first, or in order of their ids without top-k and top-p.
 *
 * <p>An instance has scratch memory for one vocabulary, is not thread-safe and allocates nothing after construction.
 * The result depends only on the arguments of {@link #sample}.
 */
public final class Sampler {
    /** Returned by {@link #sample} for a row without a usable logit. */
    public static final int NO_TOKEN = -1;

    /** Returned by {@link #sample} if mask and biases leave no token with a finite logit. */
    public static final int NO_ALLOWED_TOKEN = -2;

    private final int vocabulary;
    private final Candidates candidates;
    private final int[] seen;
    private int seenStamp;

    public Sampler(int vocabularySize) {
        this.vocabulary = vocabularySize;
        this.candidates = new Candidates(vocabularySize);
        this.seen = new int[vocabularySize];
    }

    /** Returns the size of the arrays of a sampler for this vocabulary. */
    public static long bytes(int vocabularySize) {
        return Integer.BYTES * (long) vocabularySize + Candidates.bytes(vocabularySize);
    }

    /**
     * Samples the next token.
     *
     * @param logits the row is {@code logits[from … from + vocabularySize)}; mask, biases and penalties modify it in
     *     place
     * @return the token; {@link #NO_TOKEN} if the row has NaN, +∞ or no finite value, before mask and biases or after
     *     the penalties; {@link #NO_ALLOWED_TOKEN} if mask and biases leave none
     */
    public int sample(float[] logits, int from, SampleInputs inputs) {
        int best = argmax(logits, from);
        if (best == NO_TOKEN) {
            return NO_TOKEN;
        }
        if (inputs.changesLogits()) {
            constrain(logits, from, inputs);
            best = argmax(logits, from);
            if (best == NO_TOKEN) {
                return NO_ALLOWED_TOKEN;
            }
        }
        SamplingParams params = inputs.request().params();
        if (params.hasPenalties()) {
            penalize(logits, from, params, inputs.history());
            best = argmax(logits, from);
            if (best == NO_TOKEN) {
                return NO_TOKEN;
            }
        }
        if (params.isGreedy()) {
            return best;
        }
        double draw = SplitMix64.uniform(SplitMix64.mix(inputs.request().seed()), inputs.position());
        return draw(logits, from, params, logits[from + best], draw);
    }

    /**
     * Returns the lowest index of the largest logit, or {@link #NO_TOKEN} if any logit is NaN or +∞, or none is finite.
     */
    private int argmax(float[] logits, int from) {
        int best = NO_TOKEN;
        float largest = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < vocabulary; i++) {
            float logit = logits[from + i];
            if (!(logit < Float.POSITIVE_INFINITY)) {
                return NO_TOKEN;
            }
            if (logit > largest) {
                largest = logit;
                best = i;
            }
        }
        return best;
    }

    /**
     * Returns the rank of a token by its logit, from 1; ties go to the lower id.
     *
     * @return {@link #NO_TOKEN} if the row has NaN, +∞ or no finite value
     */
    public int rank(float[] logits, int from, int token) {
        float own = logits[from + token];
        boolean finite = false;
        int rank = 1;
        for (int i = 0; i < vocabulary; i++) {
            float logit = logits[from + i];
            if (!(logit < Float.POSITIVE_INFINITY)) {
                return NO_TOKEN;
            }
            finite |= logit > Float.NEGATIVE_INFINITY;
            rank += logit > own || (logit == own && i < token) ? 1 : 0;
        }
        return finite ? rank : NO_TOKEN;
    }

    /** Sets the logits of forbidden tokens to −∞ and adds biases. */
    private void constrain(float[] logits, int from, SampleInputs inputs) {
        TokenMask mask = inputs.mask();
        if (mask != null) {
            for (int i = 0; i < vocabulary; i++) {
                if (!mask.allows(i)) {
                    logits[from + i] = Float.NEGATIVE_INFINITY;
                }
            }
        }
        for (int i = 0; i < inputs.biases(); i++) {
            logits[from + inputs.biasToken(i)] += inputs.bias(i);
        }
    }

    /**
     * Applies penalties: repetition to tokens of prompt and completion, presence and frequency only to tokens of the
     * completion, as vLLM and the OpenAI API do.
     */
    private void penalize(float[] logits, int from, SamplingParams params, TokenHistory history) {
        int length = history.length();
        if (params.repetitionPenalty() != 1) {
            int stamp = nextStamp();
            for (int i = 0; i < length; i++) {
                int token = history.token(i);
                if (seen[token] != stamp) {
                    seen[token] = stamp;
                    float logit = logits[from + token];
                    logits[from + token] =
                            logit > 0 ? logit / params.repetitionPenalty() : logit * params.repetitionPenalty();
                }
            }
        }
        int stamp = nextStamp();
        for (int i = history.promptLength(); i < length; i++) {
            int token = history.token(i);
            logits[from + token] -= params.frequencyPenalty();
            if (seen[token] != stamp) {
                seen[token] = stamp;
                logits[from + token] -= params.presencePenalty();
            }
        }
    }

    private int nextStamp() {
        if (++seenStamp == 0) {
            Arrays.fill(seen, 0);
            seenStamp = 1;
        }
        return seenStamp;
    }

    private int draw(float[] logits, int from, SamplingParams params, float largest, double draw) {
        double temperature = params.temperature();
        candidates.clear();
        // min-p: p ≥ minP · pMax is equivalent to (logit − max) / T ≥ ln(minP).
        double threshold = params.minP() > 0 ? Math.log(params.minP()) : Double.NEGATIVE_INFINITY;
        double total = 0;
        for (int i = 0; i < vocabulary; i++) {
            double exponent = (logits[from + i] - largest) / temperature;
            if (exponent >= threshold) {
                double weight = Math.exp(exponent);
                if (weight > 0) {
                    candidates.add(i, weight);
                    total += weight;
                }
            }
        }
        // Devices differ in which weights round to 0, so only the request may decide the order. If the number of
        // candidates did, devices would draw different tokens.
        boolean everything = params.topK() == 0 || params.topK() >= vocabulary;
        if (everything && params.topP() >= 1) {
            return candidates.byId(total * draw);
        }
        int topK = everything ? candidates.size() : Math.min(params.topK(), candidates.size());
        return candidates.choose(topK, params.topP(), total, draw);
    }

    /** Returns ln Σ exp(logit) over the row; stable for all finite logits. */
    public float logSumExp(float[] logits, int from) {
        float largest = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < vocabulary; i++) {
            largest = Math.max(largest, logits[from + i]);
        }
        double sum = 0;
        for (int i = 0; i < vocabulary; i++) {
            sum += Math.exp(logits[from + i] - largest);
        }
        return (float) (largest + Math.log(sum));
    }

    /** Writes the {@code count} most likely tokens to {@code tokens}, most likely first; ties go to the lower id. */
    public void top(float[] logits, int from, int count, int[] tokens) {
        candidates.clear();
        for (int i = 0; i < vocabulary; i++) {
            candidates.add(i, logits[from + i]);
        }
        candidates.heaviest(Math.min(count, vocabulary), tokens);
    }
}
