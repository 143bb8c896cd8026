package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.driver.CudaSystem;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.javacpp.BytePointer;

/** The loaded kernels of one target, by name: from cubins, or PTX compiled by the driver. */
final class KernelModules {
    private final KernelTarget target;
    private final List<CUmod_st> modules = new ArrayList<>();
    private final Map<String, Kernel> kernels = new HashMap<>();
    private final Signatures signatures;

    private KernelModules(KernelTarget target, Signatures signatures) {
        this.target = target;
        this.signatures = signatures;
    }

    /**
     * Loads the files that a model of this type needs. If the driver rejects a cubin, it compiles the PTX, which takes seconds for the
     * largest file.
     *
     * @throws BackendUnavailable if the driver rejects a file; the message names both versions
     * @throws InsufficientMemory if the device has too little memory
     */
    public static KernelModules load(KernelImages images, CudaSystem system, KernelTarget target, ElementType type) {
        KernelModules loaded = new KernelModules(target, Signatures.load());
        try {
            images.of(target).stream()
                    .filter(file -> needed(file.module(), type))
                    .forEach(file -> loaded.require(file, images, system));
            images.kernels(target).forEach(loaded::load);
            return loaded;
        } catch (Throwable e) {
            loaded.close();
            throw e;
        }
    }

    private void require(KernelImages.File file, KernelImages images, CudaSystem system) {
        int code = add(images.forms(file));
        if (code != DriverStatus.SUCCESS) {
            throw refused(file, images, system, code);
        }
    }

    /** Loads the first form of a module that the driver accepts; returns the driver's last code. */
    private int add(List<KernelImages.File> forms) {
        int code = DriverStatus.SUCCESS;
        for (KernelImages.File form : forms) {
            CUmod_st module = new CUmod_st();
            try (BytePointer image = new BytePointer(KernelImages.read(form))) {
                code = Driver.loadModule(module, image);
            }
            if (code == DriverStatus.SUCCESS) {
                modules.add(module);
                break;
            }
        }
        return code;
    }

    /** Returns whether a model needs a file: Hopper GEMMs have files per weight type, such as {@code gemm_prompt_bf16}. */
    static boolean needed(String module, ElementType weights) {
        return !module.startsWith("gemm_")
                || Arrays.stream(ElementType.values())
                        .noneMatch(other -> other != weights && module.endsWith("_" + other.suffix()));
    }

    public static RoseException refused(KernelImages.File file, KernelImages images, CudaSystem system, int code) {
        return DriverStatus.refusal(
                "the driver, which runs CUDA up to " + system.driverVersion() + ", refuses " + file.name()
                        + ", made by nvcc " + images.toolkit(),
                code);
    }

    /** Returns the target of the kernels. */
    public KernelTarget target() {
        return target;
    }

    /** Returns the kernel of this name. */
    public Kernel kernel(String name) {
        Kernel kernel = kernels.get(name);
        if (kernel == null) {
            throw DriverStatus.unavailable("looking for kernel " + name, DriverStatus.NOT_FOUND);
        }
        return kernel;
    }

    /**
     * Loads a kernel onto the device, if a module has it. By default the driver does that at the first launch, which would delay a step
     * and take memory while requests are served.
     */
    private void load(String name) {
        CUfunc_st function = new CUfunc_st();
        for (CUmod_st module : modules) {
            if (Driver.function(function, module, name) == DriverStatus.SUCCESS) {
                int code = Driver.load(function);
                if (code != DriverStatus.SUCCESS) {
                    throw DriverStatus.refusal("loading kernel " + name, code);
                }
                kernels.put(name, new Kernel(signatures.of(name), function));
                return;
            }
        }
    }

    public void close() {
        modules.forEach(Driver::unloadModule);
        modules.clear();
    }
}
