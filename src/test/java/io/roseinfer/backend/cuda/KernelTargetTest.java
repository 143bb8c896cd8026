package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.cuda.driver.CudaDevice;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Target selection, and programmatic dependent launch by target. */
class KernelTargetTest {
    /** Kernels launched with ordinary edges on every target. */
    private static final Set<String> NEVER_OVERLAPPING = Set.of("load");

    /** Matches a kernel with its body. */
    private static final Pattern ENTRY = Pattern.compile("\\.entry (\\w+)\\(.*?(?=\\.entry |\\z)", Pattern.DOTALL);

    private static CudaDevice device(int major, int minor) {
        return new CudaDevice(0, "NVIDIA Test", major, minor, 100, 1L << 36);
    }

    @ParameterizedTest
    @CsvSource({
        "8, 0, SM_80, false",
        "8, 6, SM_80, false",
        "8, 9, SM_80, false",
        "9, 0, SM_90A, true",
        "10, 0, SM_90, true",
        "10, 3, SM_90, true",
        "11, 0, SM_90, true",
        "12, 0, SM_90, true",
        "12, 1, SM_90, true"
    })
    void choose_takes_the_most_specific_target(int major, int minor, KernelTarget target, boolean overlaps) {
        KernelTarget chosen = KernelTarget.choose(device(major, minor), null);
        assertThat(chosen).isEqualTo(target);
        assertThat(chosen.overlaps()).isEqualTo(overlaps);
    }

    @ParameterizedTest
    @CsvSource({"9, 0, sm_90", "9, 0, sm_80", "12, 0, sm_80", "8, 6, sm_80", "9, 0, sm_90a"})
    void choose_takes_the_requested_target(int major, int minor, String wanted) {
        assertThat(KernelTarget.choose(device(major, minor), wanted).suffix()).isEqualTo(wanted);
    }

    @ParameterizedTest
    @CsvSource({
        "8, 6, sm_90, sm_80",
        "12, 0, sm_90a, 'sm_90, sm_80'",
        "9, 0, hopper, 'sm_90a, sm_90, sm_80'",
        "9, 0, '', 'sm_90a, sm_90, sm_80'"
    })
    void unsupported_target_names_the_supported_ones(int major, int minor, @Nullable String wanted, String can) {
        assertThatThrownBy(() -> KernelTarget.choose(device(major, minor), wanted))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("runs kernels for " + can + ", not for " + wanted)
                .hasMessageContaining("-Droseinfer.cuda.target");
    }

    @Test
    void int8_weights_need_hopper() {
        KernelTarget.SM_90A.requireWeights(ElementType.INT8, device(9, 0));
        KernelTarget.SM_80.requireWeights(ElementType.BF16, device(8, 0));
        for (KernelTarget other : List.of(KernelTarget.SM_90, KernelTarget.SM_80)) {
            assertThatThrownBy(() -> other.requireWeights(ElementType.INT8, device(8, 0)))
                    .isInstanceOf(BackendUnavailable.class)
                    .hasMessage("device cuda:0 (NVIDIA Test) runs kernels for " + other.suffix()
                            + ", and int8 weights need sm_90a (Hopper); use another precision, or"
                            + " use device cpu");
        }
    }

    @Test
    void fp8_kv_cache_needs_compute_capability_9_0() {
        KernelTarget.SM_90A.requireKvCacheDtype(KvPrecision.FP8, device(9, 0));
        KernelTarget.SM_90.requireKvCacheDtype(KvPrecision.FP8, device(10, 0));
        KernelTarget.SM_80.requireKvCacheDtype(KvPrecision.AUTO, device(8, 0));
        assertThatThrownBy(() -> KernelTarget.SM_80.requireKvCacheDtype(KvPrecision.FP8, device(8, 0)))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessage("device cuda:0 (NVIDIA Test) runs kernels for sm_80, and an fp8 KV cache needs compute"
                        + " capability 9.0 (H100 and newer); use kvCache auto");
    }

    @Test
    void too_old_device_is_rejected() {
        assertThatThrownBy(() -> KernelTarget.choose(device(7, 5), null))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("compute capability 7.5; 8.0 or more is needed");
    }

    private static KernelImages images() {
        Optional<KernelImages> images = KernelImages.find();
        assumeTrue(images.isPresent(), "this build was made without nvcc");
        return images.orElseThrow();
    }

    private static String text(KernelImages.File file) {
        return new String(KernelImages.read(file), StandardCharsets.US_ASCII);
    }

    /** Returns the number of predecessor waits in each kernel that may overlap, by name. */
    private static Map<String, Long> waits(KernelTarget target) {
        Map<String, Long> waits = new LinkedHashMap<>();
        for (KernelImages.File file : images().of(target)) {
            Matcher entry = ENTRY.matcher(text(file));
            while (!NEVER_OVERLAPPING.contains(file.module()) && entry.find()) {
                waits.put(
                        entry.group(1),
                        entry.group()
                                .lines()
                                .filter(line -> line.contains("griddepcontrol.wait"))
                                .count());
            }
        }
        return waits;
    }

    @ParameterizedTest
    @EnumSource(KernelTarget.class)
    void overlaps_iff_every_kernel_waits_for_its_predecessor(KernelTarget target) {
        Map<String, Long> waits = waits(target);
        assertThat(waits)
                .containsKeys("gemm_head_f32_generic", "attention_generic_f16", "attention_prefill_bf16", "sample");
        assertThat(waits)
                .allSatisfy((kernel, count) -> assertThat(count > 0).as(kernel).isEqualTo(target.overlaps()));
    }

    @ParameterizedTest
    @EnumSource(KernelTarget.class)
    void images_are_compiled_for_the_target_in_their_name(KernelTarget target) {
        assertThat(images().of(target))
                .isNotEmpty()
                .allSatisfy(file -> assertThat(text(file).lines()).contains(".target " + target.suffix()));
    }
}
