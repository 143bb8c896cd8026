package io.roseinfer.backend.cpu;

import io.roseinfer.backend.ModelRunner;

/** Package-private access to a CPU runner for tests in other packages. */
public final class CpuProbe {
    private CpuProbe() {}

    /** Returns the logits of a sample of the step awaited last. */
    public static float[] logits(ModelRunner runner, int sample) {
        float[] logits = new float[runner.spec().vocabularySize()];
        for (int token = 0; token < logits.length; token++) {
            logits[token] = ((CpuModelRunner) runner).logit(sample, token);
        }
        return logits;
    }

    /** Fills a block with NaN; no step is in flight. */
    public static void poison(ModelRunner runner, int block) {
        ((CpuModelRunner) runner).poison(block);
    }
}
