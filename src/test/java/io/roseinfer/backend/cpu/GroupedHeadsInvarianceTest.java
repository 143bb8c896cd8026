package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;

/** Invariance of a model with RMS norm, RoPE, GQA and a gated MLP. */
class GroupedHeadsInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.partlyRotary();
    }
}
