package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;

/**
 * The device memory a step works in, by address. Inputs and sampled tokens alternate between two arrays from step to step: the
 * inputs of a step go up while the one before runs, and a step may read the tokens of the one before while it leaves its own.
 *
 * @param panelRows rows that every activation buffer has room for
 */
record StepBuffers(
        int panelRows,
        long[] inputs,
        long pool,
        long x,
        long xPanels,
        long moments,
        long normalized,
        long queries,
        long attended,
        long hidden,
        long best,
        long logits,
        long seen,
        long logitCopies,
        long[] sampled) {

    static StepBuffers allocate(
            DeviceMemory memory,
            ModelShape shape,
            RunnerLimits limits,
            SampleKernel sampling,
            long inputBytes,
            long poolBytes) {
        int rows = limits.maxRows();
        int panelRows = panelRows(limits);
        long element = shape.type().bytes();
        String scratch = "activations";
        String choosing = "logits and sampling";
        return new StepBuffers(
                panelRows,
                new long[] {memory.allocate("step inputs", inputBytes), memory.allocate("step inputs", inputBytes)},
                memory.allocate("KV pool", poolBytes),
                memory.allocate(scratch, 4L * panelRows * shape.stride()),
                memory.allocate(scratch, element * panelRows * shape.stride()),
                memory.allocate(scratch, 8L * panelRows * (shape.stride() / 8)),
                memory.allocate(scratch, element * panelRows * shape.stride()),
                memory.allocate(scratch, element * panelRows * shape.attention()),
                memory.allocate(scratch, element * panelRows * shape.paddedAttention()),
                memory.allocate(scratch, element * panelRows * shape.paddedInner()),
                memory.allocate(choosing, 8L * rows * (shape.paddedVocabulary() / 64)),
                memory.allocate(choosing, 4L * rows * shape.paddedVocabulary()),
                memory.allocate(choosing, 4L * rows * seenWords(shape)),
                memory.allocate(choosing, copyBytes(shape, limits, sampling)),
                new long[] {memory.allocate(choosing, 4L * rows), memory.allocate(choosing, 4L * rows)});
    }

    private static int panelRows(RunnerLimits limits) {
        return ModelShape.roundUp(Math.max(limits.maxTokens(), limits.maxRows()), 8);
    }

    /** Where the sampling kernel penalises a row that it does not hold. */
    private static long copyBytes(ModelShape shape, RunnerLimits limits, SampleKernel sampling) {
        return sampling.held() ? 16 : 4L * limits.maxRows() * shape.paddedVocabulary();
    }

    private static int seenWords(ModelShape shape) {
        return Math.ceilDiv(shape.spec().vocabularySize(), 32);
    }

    /** Bytes of everything but inputs, KV pool and weights. */
    static long scratchBytes(ModelShape shape, RunnerLimits limits, SampleKernel sampling) {
        long perToken = 5L * shape.stride()
                + (2L * shape.stride() + shape.attention() + shape.paddedAttention() + shape.paddedInner())
                        * shape.type().bytes();
        long perRow = shape.paddedVocabulary() / 8 + 4L * shape.paddedVocabulary() + 4L * seenWords(shape) + 8;
        return panelRows(limits) * perToken + limits.maxRows() * perRow + copyBytes(shape, limits, sampling);
    }
}
