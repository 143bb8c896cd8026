package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;
import org.junit.jupiter.api.Tag;

/** Invariance of a model with parallel residual. */
@Tag("parity")
class ParallelResidualInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.parallel();
    }
}
