package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ModelSpec;

/**
 * Model, limits, KV pool, weight format and memory of a runner, settled before anything is allocated.
 *
 * @param format how the weights of the blocks are packed
 */
record RunnerPlan(ModelSpec spec, RunnerLimits limits, KvGeometry kv, WeightFormat format, MemoryPlan memory) {
    /** Blocks that a sequence as long as the context takes. */
    int blocksPerContext() {
        return kv.blocksFor(spec.contextLength());
    }
}
