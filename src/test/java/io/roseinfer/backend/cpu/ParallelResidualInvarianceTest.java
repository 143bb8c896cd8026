package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;

/** The same of a model whose attention and MLP stand side by side. */
class ParallelResidualInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.parallel();
    }
}
