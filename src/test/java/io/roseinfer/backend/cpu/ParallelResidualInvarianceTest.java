package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;

/** Invariance of a model with parallel residual. */
class ParallelResidualInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.parallel();
    }
}
