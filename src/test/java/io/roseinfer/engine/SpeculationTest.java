package io.roseinfer.engine;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.KernelChoice;
import org.junit.jupiter.api.Tag;

/** Speculation on the CPU. */
@Tag("parity")
class SpeculationTest extends SpeculationCases {
    SpeculationTest() {
        super(16, 4, 40);
    }

    @Override
    Backend open() {
        return new CpuBackend(
                CpuOptions.defaults().withPrecision(Precision.FP32).withKernels(KernelChoice.VECTOR));
    }
}
