package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class KernelImagesTest {
    @Test
    void manifest_is_read_by_target() {
        Properties manifest = new Properties();
        manifest.setProperty("toolkit", "13.0");
        manifest.setProperty("embed.sm_80.ptx", "aa");
        manifest.setProperty("embed.sm_90a.ptx", "bb");
        manifest.setProperty("gemm_f16.sm_90a.ptx", "cc");
        manifest.setProperty("gemm_f16.sm_90a.cubin", "dd");
        KernelImages images = KernelImages.of(manifest);
        assertThat(images.description()).isEqualTo("PTX for sm_80, sm_90a, machine code for sm_90a, made by nvcc 13.0");
        assertThat(images.of(KernelTarget.SM_90A))
                .extracting(KernelImages.File::module)
                .containsExactly("embed", "gemm_f16");
    }

    @Test
    void forms_of_a_module_are_cubin_then_ptx() {
        Properties manifest = new Properties();
        manifest.setProperty("embed.sm_80.ptx", "aa");
        manifest.setProperty("embed.sm_90a.ptx", "bb");
        manifest.setProperty("embed.sm_90a.cubin", "cc");
        manifest.setProperty("load.sm_90a.cubin", "dd");
        KernelImages images = KernelImages.of(manifest);
        assertThat(images.forms(images.of(KernelTarget.SM_90A).getFirst()))
                .extracting(KernelImages.File::name)
                .containsExactly("embed.sm_90a.cubin", "embed.sm_90a.ptx");
        assertThat(images.forms(images.of(KernelTarget.SM_80).getFirst()))
                .extracting(KernelImages.File::name)
                .containsExactly("embed.sm_80.ptx");
    }

    @Test
    void missing_file_is_reported() {
        KernelImages.File file = new KernelImages.File("absent.sm_80.ptx", "00");
        assertThatThrownBy(() -> KernelImages.read(file))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("absent.sm_80.ptx is not what the build's manifest lists");
    }
}
