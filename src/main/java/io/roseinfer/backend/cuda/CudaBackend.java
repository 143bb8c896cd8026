package io.roseinfer.backend.cuda;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.model.Gpt2Weights;
import java.util.Optional;

/** Runs models on one NVIDIA GPU. */
public final class CudaBackend implements Backend {
    private final CudaOptions options;
    private final Clock clock;
    private final CudaSystem system;
    private final CudaDevice device;
    private final KernelImages images;

    private CudaBackend(CudaOptions options, Clock clock, CudaSystem system, KernelImages images) {
        this.options = options;
        this.clock = clock;
        this.system = system;
        this.device = system.device(options.device());
        this.images = images;
        KernelImages.targetFor(device);
    }

    /**
     * Opens the device.
     *
     * @param clock tells when a device no longer answers
     * @throws BackendUnavailable if it cannot be used; the message says why and what to do
     */
    public static CudaBackend open(CudaOptions options, Clock clock) {
        KernelImages images = KernelImages.require();
        return new CudaBackend(options, clock, CudaSystem.find(), images);
    }

    /** Why the first device cannot be used here, if it cannot. */
    public static Optional<BackendUnavailable> refusal() {
        try {
            open(CudaOptions.defaults(), Clock.system()).close();
            return Optional.empty();
        } catch (BackendUnavailable e) {
            return Optional.of(e);
        }
    }

    @Override
    public String name() {
        return "cuda";
    }

    /** Such as {@code NVIDIA H200, compute capability 9.0, 132 SMs, 139.8 GiB; sm_90a kernels by nvcc 13.0}. */
    @Override
    public String description() {
        return device.description() + "; " + KernelImages.targetFor(device) + " kernels by nvcc " + images.toolkit();
    }

    /** Such as {@code driver for CUDA 13.0, runtime 13.0}. */
    public String versions() {
        return "driver for CUDA " + system.driverVersion() + ", runtime " + system.runtimeVersion();
    }

    @Override
    public ModelRunner load(Gpt2Weights weights, RunnerLimits limits) {
        return RunnerLoader.load(weights, limits, options, clock, system, device, images);
    }

    @Override
    public void close() {}
}
