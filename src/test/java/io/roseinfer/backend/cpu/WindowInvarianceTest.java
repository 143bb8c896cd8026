package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;
import org.junit.jupiter.api.Tag;

/** Invariance of a model with sliding windows, a block without positions, and multi-query attention. */
@Tag("parity")
class WindowInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.windowed();
    }
}
