package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ModelSpec;

/**
 * Model, limits, KV pool, weight format and memory of a runner, settled before anything is allocated.
 *
 * @param format how the weights of the blocks are packed
 */
record RunnerPlan(ModelSpec spec, RunnerLimits limits, KvGeometry kv, WeightFormat format, MemoryPlan memory) {

    /** {@link #format} as the user calls it. */
    Precision precision() {
        return switch (format) {
            case F32 -> Precision.FP32;
            case BF16 -> Precision.BF16;
            case INT8 -> Precision.INT8;
            case INT4 -> Precision.INT4;
        };
    }

    /** Blocks that a sequence as long as the context takes. */
    int blocksPerContext() {
        return kv.blocksFor(spec.contextLength());
    }
}
