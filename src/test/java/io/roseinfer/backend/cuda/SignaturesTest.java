package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.cuda.Signature.Kind;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The declared arguments of the kernels, and kernels and launches that have others. */
class SignaturesTest {
    private static final Signatures SIGNATURES = Signatures.parse(List.of(
            "# a comment",
            "ROWS = T* rows, int count",
            "scale_T(ROWS, float factor) [f16 bf16]",
            "tile_T_B(ROWS, u64 bytes) [f16]"));

    private static final String FITS = "u64 u32 f32";

    @ParameterizedTest
    @ValueSource(strings = {"scale_f16", "scale_bf16", "tile_f16_b8", "tile_f16_b128"})
    void a_family_declares_its_types_and_tiles(String kernel) {
        assertThat(SIGNATURES.of(kernel).arguments()).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"scale_f32", "scale", "tile_f16", "tile_bf16_b8", "tile_f16_b8_b8", "other"})
    void a_kernel_that_no_line_declares_is_refused(String kernel) {
        assertThatThrownBy(() -> SIGNATURES.of(kernel))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("launches.txt: declares no arguments of the kernel " + kernel + ";");
    }

    private static KernelImages images(String arguments) {
        Properties manifest = new Properties();
        manifest.setProperty("kernel.sm_80.scale_f16", arguments);
        manifest.setProperty("kernel.sm_90.scale_f16", FITS);
        return KernelImages.of(manifest);
    }

    @Test
    void kernels_that_were_compiled_as_declared_are_taken() {
        SIGNATURES.requireCompiled(images(FITS), KernelTarget.SM_80);
    }

    @ParameterizedTest
    @CsvSource({
        "u64 u32, 'argument 3 (factor) is declared as float, which has 4 bytes and missing: the kernel has 2 arguments compiled, not 3'",
        "u64 u32 f32 u32, 'argument 4 is not declared: the kernel has 4 arguments compiled, not 3'",
        "u64 u64 f32, 'argument 2 (count) was compiled as u64 and is declared as int, which has 4 bytes'",
        "u64 u32 u32, 'argument 3 (factor) was compiled as u32 and is declared as float, which has 4 bytes'",
        "u64 f32 u32, 'argument 2 (count) was compiled as f32'",
        "'', 'argument 1 (rows) is declared as T*, which has 8 bytes and missing'"
    })
    void kernels_that_were_compiled_otherwise_are_refused_by_kernel_and_argument(String compiled, String why) {
        assertThatThrownBy(() -> SIGNATURES.requireCompiled(images(compiled), KernelTarget.SM_80))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("kernels/contract/launches.txt, line 3: scale_f16, " + why);
        SIGNATURES.requireCompiled(images(compiled), KernelTarget.SM_90);
    }

    @Test
    void a_compiled_kernel_that_is_not_declared_is_refused() {
        Properties manifest = new Properties();
        manifest.setProperty("kernel.sm_80.shift_f16", FITS);
        assertThatThrownBy(() -> SIGNATURES.requireCompiled(KernelImages.of(manifest), KernelTarget.SM_80))
                .hasMessageContaining("declares no arguments of the kernel shift_f16");
    }

    @Test
    void machine_code_of_other_sizes_is_refused_by_kernel_and_argument() {
        Signature scale = SIGNATURES.of("scale_f16");
        scale.requireSizes(List.of(8, 4, 4));
        assertThatThrownBy(() -> scale.requireSizes(List.of(8, 8, 4)))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("scale_f16, argument 2 (count) has 8 bytes on the device and is declared as int");
        assertThatThrownBy(() -> scale.requireSizes(List.of(8)))
                .hasMessageContaining("argument 2 (count)")
                .hasMessageContaining("the kernel has 1 arguments on the device, not 3");
    }

    private static long kinds(Kind... kinds) {
        long all = Signature.NO_ARGUMENTS;
        for (Kind kind : kinds) {
            all = Signature.append(all, kind);
        }
        return all;
    }

    @Test
    void a_launch_as_declared_has_the_kinds_of_the_signature() {
        assertThat(kinds(Kind.ADDRESS, Kind.INTEGER, Kind.REAL))
                .isEqualTo(SIGNATURES.of("scale_f16").kinds());
        assertThat(kinds(Kind.ADDRESS, Kind.INTEGER, Kind.ADDRESS))
                .isEqualTo(SIGNATURES.of("tile_f16_b8").kinds());
    }

    @ParameterizedTest
    @CsvSource({
        "ADDRESS REAL INTEGER, 'argument 2 (count) is given as REAL and declared as int'",
        "INTEGER ADDRESS REAL, 'argument 1 (rows) is given as INTEGER and declared as T*'",
        "ADDRESS INTEGER, 'argument 3 (factor) ends a launch of 2 arguments; 3 are declared'",
        "ADDRESS INTEGER REAL ADDRESS, 'argument 4 ends a launch of 4 arguments; 3 are declared'"
    })
    void a_launch_in_another_order_is_refused_by_kernel_and_argument(String given, String why) {
        long kinds = kinds(Arrays.stream(given.split(" ")).map(Kind::valueOf).toArray(Kind[]::new));
        Signature scale = SIGNATURES.of("scale_f16");
        assertThat(kinds).isNotEqualTo(scale.kinds());
        assertThat(scale.misuse(kinds)).hasMessageContaining("launch of scale_f16, " + why);
    }

    @Test
    void as_many_arguments_as_there_is_room_for_are_told_apart() {
        Kind[] most = new Kind[Signature.MAX_ARGUMENTS];
        Arrays.fill(most, Kind.ADDRESS);
        long all = kinds(most);
        most[0] = Kind.REAL;
        assertThat(kinds(most)).isNotEqualTo(all);
        String list = "f(" + "int* a, ".repeat(Signature.MAX_ARGUMENTS - 1) + "int* a)";
        assertThat(Signatures.parse(List.of(list)).of("f").kinds()).isEqualTo(all);
        assertThatThrownBy(() -> Signatures.parse(List.of(list.replace("f(", "f(int b, "))))
                .hasMessageContaining("line 1: 32 arguments; at most 31 are allowed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "f(double x) | \"double x\" is no argument",
                "f(ROWS) | \"ROWS\" is no argument",
                "f(int) | \"int\" is no argument",
                "f | \"f\"; kernel(TYPE NAME, ...)"
            })
    void a_line_that_declares_nothing_is_refused_by_its_number(String line, String why) {
        List<String> lines = new ArrayList<>(List.of("# first", line));
        assertThatThrownBy(() -> Signatures.parse(lines))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("kernels/contract/launches.txt, line 2: " + why);
    }

    private static KernelImages images() {
        Optional<KernelImages> images = KernelImages.find();
        assumeTrue(images.isPresent(), "this build was made without nvcc");
        return images.orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(KernelTarget.class)
    void the_kernels_of_this_build_have_the_declared_arguments(KernelTarget target) {
        assertThat(images().kernels(target)).hasSizeGreaterThan(30);
        Signatures.load().requireCompiled(images(), target);
    }

    @Test
    void every_declared_family_has_a_kernel() {
        assertThat(Signatures.load().families())
                .allSatisfy(family -> assertThat(images().kernels(KernelTarget.SM_90A))
                        .anyMatch(kernel -> family.kernels().matcher(kernel).matches()));
    }
}
