package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;

/** The same of a model with norms by root mean square, rotary positions, heads that share keys, and a gated MLP. */
class GroupedHeadsInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.partlyRotary();
    }
}
