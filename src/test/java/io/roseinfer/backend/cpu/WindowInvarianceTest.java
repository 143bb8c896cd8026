package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;

/** The same of a model with sliding windows, a block without positions, and heads that all share one of keys. */
class WindowInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.windowed();
    }
}
