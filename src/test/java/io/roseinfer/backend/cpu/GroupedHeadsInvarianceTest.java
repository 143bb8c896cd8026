package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;
import org.junit.jupiter.api.Tag;

/** Invariance of a model with RMS norm, RoPE, GQA and a gated MLP. */
@Tag("parity")
class GroupedHeadsInvarianceTest extends CpuRunnerInvarianceTest {
    @Override
    ModelSpec spec() {
        return TestModel.partlyRotary();
    }
}
