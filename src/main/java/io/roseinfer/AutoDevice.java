package io.roseinfer;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.base.Remedy;
import java.util.Optional;

/** Resolves {@link Settings.Device#AUTO} to the CPU or CUDA. */
public final class AutoDevice {
    private AutoDevice() {}

    /** Returns the reason why {@code AUTO} is the CPU, as a clause for a message, or empty if it is CUDA. */
    public static Optional<String> reasonForCpu(Settings settings) {
        if (settings.deviceOptions().threads() > 0) {
            return Optional.of("a number of threads is set, which applies to the CPU only");
        }
        Precision precision = settings.deviceOptions().precision();
        if (precision == Precision.INT8) {
            return Optional.of("on CUDA only some models and GPUs have int8 weights, so they need device cuda");
        }
        if (!CudaOptions.has(precision)) {
            return Optional.of(precision.label() + " weights are supported on the CPU only");
        }
        return CudaBackend.refusal().map(refusal -> refusal.messageWithout(Remedy.USE_CPU));
    }
}
