package io.roseinfer.backend.cuda;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.RunnerLoader.Target;
import io.roseinfer.backend.cuda.driver.CudaDevice;
import io.roseinfer.backend.cuda.driver.CudaLibrary;
import io.roseinfer.backend.cuda.driver.CudaSystem;
import io.roseinfer.backend.cuda.driver.PlatformThreads;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Runs models on one NVIDIA GPU. */
public final class CudaBackend implements Backend {
    private static final long WARM_UP_NANOS = 500_000_000;

    private final CudaOptions options;
    private final Clock clock;
    private final CudaSystem system;
    private final CudaDevice device;
    private final KernelImages images;
    private final KernelTarget target;
    private final List<String> warnings = new ArrayList<>();

    private CudaBackend(CudaOptions options, Clock clock, CudaSystem system, KernelImages images) {
        this.options = options;
        this.clock = clock;
        this.system = system;
        this.device = system.device(options.device());
        this.images = images;
        this.target = KernelTarget.of(device);
    }

    /**
     * Opens the device.
     *
     * @param clock detects a device that no longer answers
     * @throws BackendUnavailable if it cannot be used; the message names cause and remedy
     */
    public static CudaBackend open(CudaOptions options, Clock clock) {
        // First, since kernels are of no use to a machine without a GPU.
        CudaSystem system = CudaSystem.find();
        return new CudaBackend(options, clock, system, KernelImages.require());
    }

    /** Returns whether an NVIDIA driver is installed, usable or not. */
    public static boolean hasDriver() {
        return CudaLibrary.hasDriver();
    }

    /** Returns why the first device cannot be used: it is unavailable or out of memory; empty if it can. */
    public static Optional<RoseException> refusal() {
        return refusal(() -> open(CudaOptions.defaults(), Clock.system()));
    }

    static Optional<RoseException> refusal(Supplier<CudaBackend> opening) {
        try {
            opening.get().close();
            return Optional.empty();
        } catch (BackendUnavailable | InsufficientMemory e) {
            return Optional.of(e);
        }
    }

    @Override
    public String name() {
        return "cuda";
    }

    /** Returns device and kernels in words, such as {@code NVIDIA H200, compute capability 9.0, 132 SMs, 139.8 GiB; sm_90a kernels by nvcc 13.0}. */
    @Override
    public String description() {
        return device.description() + "; " + target.suffix() + " kernels by nvcc " + images.toolkit();
    }

    @Override
    public Optional<String> gpu() {
        return Optional.of(device.name());
    }

    /** Returns the versions in words, such as {@code driver for CUDA 13.0, runtime 13.0}. */
    public String versions() {
        return "driver for CUDA " + system.driverVersion() + ", runtime " + system.runtimeVersion();
    }

    @Override
    public long warmUpNanos() {
        return WARM_UP_NANOS;
    }

    /** Returns warnings about the models loaded so far. */
    @Override
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    @Override
    public ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits) {
        GridLimits.require(limits, "device cuda:" + device.index());
        CudaModelRunner runner = PlatformThreads.call(
                () -> RunnerLoader.load(spec, weights, limits, options, clock, new Target(system, device, images)));
        warnings.addAll(runner.rank().host().warnings());
        return runner;
    }

    @Override
    public void close() {}
}
