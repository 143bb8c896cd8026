package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.cuda.driver.CudaSystem;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelModulesTest {
    @ParameterizedTest
    @CsvSource({
        "209, no kernel image",
        "218, invalid PTX",
        "221, libnvidia-ptxjitcompiler",
        "222, PTX newer than the driver"
    })
    void rejected_module_names_both_versions(int code, String what) {
        KernelImages.File file = new KernelImages.File("embed.sm_90a.ptx", "");
        RoseException refusal = KernelModules.refused(
                file,
                new KernelImages("13.1", "", List.of(file), Map.of()),
                new CudaSystem("13.0", "13.0", List.of()),
                code);
        assertThat(refusal.getMessage())
                .contains("runs CUDA up to 13.0", "embed.sm_90a.ptx", "made by nvcc 13.1", what);
    }

    @Test
    void module_without_room_is_insufficient_memory() {
        KernelImages.File file = new KernelImages.File("sample.sm_80.ptx", "");
        RoseException refusal = KernelModules.refused(
                file,
                new KernelImages("13.0", "", List.of(file), Map.of()),
                new CudaSystem("13.0", "13.0", List.of()),
                DriverStatus.OUT_OF_MEMORY);
        assertThat(refusal).isInstanceOf(InsufficientMemory.class).hasMessageContaining("sample.sm_80.ptx");
    }

    @ParameterizedTest
    @CsvSource({
        "F32, gemm_generic",
        "F16, gemm_f16 gemm_generic gemm_prompt_f16",
        "BF16, gemm_bf16 gemm_generic gemm_prompt_bf16",
        "INT8, gemm_generic gemm_int8"
    })
    void files_of_gemms_are_those_of_the_weights(ElementType weights, String files) {
        String[] gemms = {"gemm_bf16", "gemm_f16", "gemm_generic", "gemm_int8", "gemm_prompt_bf16", "gemm_prompt_f16"};
        assertThat(Arrays.stream(gemms).filter(module -> KernelModules.needed(module, weights)))
                .containsExactly(files.split(" "));
    }
}
