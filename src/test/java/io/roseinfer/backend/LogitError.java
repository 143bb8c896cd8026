package io.roseinfer.backend;

import java.util.Locale;

/** Logit errors of a quantized model relative to the exact one, over a text. */
public final class LogitError {
    private double largest;
    private double sum;
    private double squares;
    private long logits;
    private long agreeing;
    private double exactSurprise;
    private double surprise;
    private long positions;

    public void add(float[] exact, float[] narrow, int next) {
        for (int i = 0; i < exact.length; i++) {
            double difference = Math.abs((double) narrow[i] - exact[i]);
            largest = Math.max(largest, difference);
            sum += difference;
            squares += difference * difference;
        }
        logits += exact.length;
        agreeing += best(exact) == best(narrow) ? 1 : 0;
        exactSurprise += logSumExp(exact) - exact[next];
        surprise += logSumExp(narrow) - narrow[next];
        positions++;
    }

    public double perplexity() {
        return Math.exp(surprise / positions);
    }

    public double exactPerplexity() {
        return Math.exp(exactSurprise / positions);
    }

    public double agreement() {
        return (double) agreeing / positions;
    }

    public double rootMeanSquare() {
        return Math.sqrt(squares / logits);
    }

    /** Returns the largest difference of a logit. */
    public double largest() {
        return largest;
    }

    /** Returns a table row for {@code what}. */
    public String row(String what) {
        return String.format(
                Locale.ROOT,
                "| %s | %.5f | %.5f | %+.4f%% | %.4f | %.4f | %.4f | %.2f%% | of %d positions",
                what,
                exactPerplexity(),
                perplexity(),
                100 * (perplexity() / exactPerplexity() - 1),
                largest,
                sum / logits,
                rootMeanSquare(),
                100 * agreement(),
                positions);
    }

    private static int best(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            best = logits[i] > logits[best] ? i : best;
        }
        return best;
    }

    private static double logSumExp(float[] logits) {
        double largest = logits[best(logits)];
        double sum = 0;
        for (float logit : logits) {
            sum += Math.exp(logit - largest);
        }
        return largest + Math.log(sum);
    }
}
