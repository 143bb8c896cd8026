package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.cuda.Signature.Kind;
import io.roseinfer.backend.cuda.Signatures.Family;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The declared arguments of kernels, compared with compiled kernels and launches. */
class SignaturesTest {
    private static final Signatures SIGNATURES = Signatures.parse(List.of(
            "ROWS = T* rows, int count", "scale_T(ROWS, float factor) [f16 bf16]", "tile_T_B(ROWS, u64 bytes) [f16]"));

    @ParameterizedTest
    @ValueSource(strings = {"scale_f16", "scale_bf16", "tile_f16_b8", "tile_f16_b128"})
    void family_declares_its_types_and_tiles(String kernel) {
        assertThat(SIGNATURES.of(kernel).arguments()).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"scale_f32", "scale", "tile_f16", "tile_bf16_b8", "tile_f16_b8_b8", "other"})
    void undeclared_kernel_has_no_signature(String kernel) {
        assertThatThrownBy(() -> SIGNATURES.of(kernel))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("launches.txt declares no arguments of the kernel " + kernel);
    }

    private static long kinds(Kind... kinds) {
        long all = Signature.NO_ARGUMENTS;
        for (Kind kind : kinds) {
            all = Signature.append(all, kind);
        }
        return all;
    }

    @Test
    void declared_launch_has_the_kinds_of_the_signature() {
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
    void launch_with_wrong_argument_order_is_rejected(String given, String why) {
        long kinds = kinds(Arrays.stream(given.split(" ")).map(Kind::valueOf).toArray(Kind[]::new));
        Signature scale = SIGNATURES.of("scale_f16");
        assertThat(kinds).isNotEqualTo(scale.kinds());
        assertThat(scale.misuse(kinds)).hasMessageContaining("launch of scale_f16, " + why);
    }

    @Test
    void maximum_arguments_are_distinguished() {
        Kind[] most = new Kind[Signature.MAX_ARGUMENTS];
        Arrays.fill(most, Kind.ADDRESS);
        long all = kinds(most);
        most[0] = Kind.REAL;
        assertThat(kinds(most)).isNotEqualTo(all);
        String list = "f(" + "int* a, ".repeat(Signature.MAX_ARGUMENTS - 1) + "int* a)";
        assertThat(Signatures.parse(List.of(list)).of("f").kinds()).isEqualTo(all);
        assertThatThrownBy(() -> Signatures.parse(List.of(list.replace("f(", "f(int b, "))))
                .hasMessageContaining("at most 31 arguments");
    }

    @ParameterizedTest
    @ValueSource(strings = {"f(double x)", "f(ROWS)", "f(int)", "f"})
    void malformed_line_is_rejected(String line) {
        assertThatThrownBy(() -> Signatures.parse(List.of(line)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(line.replaceAll("f\\(|\\)", ""));
    }

    private static KernelImages images() {
        Optional<KernelImages> images = KernelImages.find();
        assumeTrue(images.isPresent(), "this build was made without nvcc");
        return images.orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(KernelTarget.class)
    void kernels_of_this_build_have_the_declared_arguments(KernelTarget target) {
        Signatures declared = Signatures.load();
        Set<String> kernels = images().kernels(target);
        assertThat(kernels).hasSizeGreaterThan(30);
        Map<String, String> wrong = new TreeMap<>();
        for (String kernel : kernels) {
            String expected = declared.of(kernel).arguments().stream()
                    .map(argument -> argument.kind().ptx)
                    .collect(Collectors.joining(" "));
            String compiled = images().arguments(target, kernel);
            if (!compiled.equals(expected)) {
                wrong.put(kernel, "declared with " + expected + ", compiled with " + compiled);
            }
        }
        assertThat(wrong).as("kernels compiled for %s", target).isEmpty();
    }

    @Test
    void every_declared_family_has_a_kernel() {
        Set<String> kernels = images().kernels(KernelTarget.SM_90A);
        assertThat(Signatures.load().families().stream()
                        .map(Family::kernels)
                        .filter(names -> kernels.stream()
                                .noneMatch(kernel -> names.matcher(kernel).matches())))
                .isEmpty();
    }
}
