package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.CudaSystem;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.files.ModelFiles;
import java.nio.charset.StandardCharsets;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.javacpp.BytePointer;
import org.junit.jupiter.api.Test;

/** Errors of the CUDA backend for missing resources. */
@RequiresCuda
class CudaBackendTest {
    private static CudaBackend open() {
        return CudaBackend.open(CudaOptions.defaults(), Clock.system());
    }

    private static long loadOnce(RunnerLimits limits) {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                CudaBackend backend = open();
                ModelRunner runner = backend.load(files.spec(), files.weights(), limits)) {
            assertThat(runner.memory())
                    .extracting(MemoryUse::name)
                    .contains("KV pool", "token embedding", "activations");
            return CudaProbe.freeBytes();
        }
    }

    @Test
    void description_names_device_and_kernels() {
        try (CudaBackend backend = open()) {
            assertThat(backend.description())
                    .containsPattern("compute capability \\d+\\.\\d")
                    .contains("; " + System.getProperty(KernelTarget.PROPERTY, "sm_"))
                    .contains("kernels by nvcc");
        }
    }

    @Test
    void second_load_uses_the_same_memory() {
        RunnerLimits limits = new RunnerLimits(8, 512, 16, 1000);
        loadOnce(limits);
        long free = loadOnce(limits);
        for (int i = 0; i < 3; i++) {
            assertThat(loadOnce(limits)).as("free bytes while loaded").isEqualTo(free);
        }
    }

    @Test
    void load_with_a_pool_larger_than_the_device_names_a_remedy() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                CudaBackend backend = open()) {
            assertThatThrownBy(() ->
                            backend.load(files.spec(), files.weights(), new RunnerLimits(8, 512, 1024, 100_000_000)))
                    .isInstanceOf(InsufficientMemory.class)
                    .hasMessageContaining("100000000 KV blocks of 1024 tokens need")
                    .hasMessageContaining("kvBlocks");
        }
    }

    @Test
    void load_with_more_rows_than_a_grid_holds_names_the_options() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                CudaBackend backend = open()) {
            assertThatThrownBy(() ->
                            backend.load(files.spec(), files.weights(), new RunnerLimits(65_536, 65_536, 16, 1000)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("at most 65535 can be launched")
                    .hasMessageContaining("maxBatchSize");
        }
    }

    @Test
    void open_missing_device_names_the_available_ones() {
        assertThatThrownBy(() -> CudaBackend.open(CudaOptions.defaults().withDevice(99), Clock.system()))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageStartingWith("device cuda:99 does not exist; visible are 0 to ");
    }

    @Test
    void ptx_newer_than_the_driver_is_rejected() {
        String ptx = ".version 99.0\n.target sm_80\n.address_size 64\n\0";
        DeviceContext context = DeviceContext.open(0);
        try (BytePointer image = new BytePointer(ptx.getBytes(StandardCharsets.US_ASCII))) {
            int code = Driver.loadModule(new CUmod_st(), image);
            KernelImages images = KernelImages.require();
            KernelImages.File file = images.files().getFirst();
            RoseException refusal = KernelModules.refused(file, images, CudaSystem.find(), code);
            assertThat(refusal)
                    .hasMessageContaining(file.name() + ", made by nvcc ")
                    .hasMessageContaining(
                            "PTX newer than the driver (CUDA error 222); rebuild roseinfer with an nvcc no newer");
            assertThat(refusal.exitCode()).isEqualTo(4);
        } finally {
            context.close();
        }
    }
}
