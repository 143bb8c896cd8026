package io.roseinfer;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.base.Remedy;
import java.util.Optional;

/** Resolves {@link Settings.Device#AUTO} to the processor or CUDA. */
public final class AutoDevice {
    private AutoDevice() {}

    /** Why it is the processor, in words that a message can go on with; empty if it is CUDA. */
    public static Optional<String> reasonForCpu(Settings settings) {
        if (settings.deviceOptions().threads() > 0) {
            return Optional.of("a number of threads was asked for, and threads are the cpu's");
        }
        Precision precision = settings.deviceOptions().precision();
        if (precision == Precision.INT8) {
            return Optional.of(
                    "int8 weights are cuda's for some models and GPUs alone, so device cuda must ask for them");
        }
        if (!CudaOptions.has(precision)) {
            return Optional.of(precision.label() + " weights are the cpu's alone");
        }
        return CudaBackend.refusal().map(refusal -> refusal.messageWithout(Remedy.USE_CPU));
    }
}
