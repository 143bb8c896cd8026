package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ModelSpec;

/**
 * Model, limits, KV pool, weight format and memory of a runner, decided before any allocation.
 *
 * @param format how the weights of the blocks are packed
 */
record RunnerPlan(ModelSpec spec, RunnerLimits limits, KvGeometry kv, WeightFormat format, MemoryPlan memory) {
    /** Returns the blocks of a full context. */
    int blocksPerContext() {
        return kv.blocksFor(spec.contextLength());
    }
}
