package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;

/** Invariance of a model with sliding windows, a block without positions, and multi-query attention. */
class WindowInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.windowed();
    }
}
