package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The table of tile plans, and what is refused as one. */
class TileTableTest {
    private static final String HEADER = "plan,layer,rows,qkv,attention,attention output,mlp inner,mlp output,head";
    private static final String FIRST = "fastest,0-,1-8,8:1:12,decode:9,8:1:12,8:1:12,8:4:12,8:1:4";
    private static final String LAST = "fastest,0-,9-,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5";
    private static final String INT8 = "int8,0-,1-,8:2:8,decode:12,8:4:3,8:1:8,8:8:3,8:1:4";
    private static final String INVARIANT = "invariant,0-,1-,8:1:12,prefill_single:24,8:1:12,8:1:12,8:4:8,8:1:3";

    private static TileTable plans(String... lines) {
        return TilePlanParser.parse(
                Stream.concat(Stream.of("# a comment", HEADER), Stream.concat(Stream.of(lines), Stream.of(INT8)))
                        .toList());
    }

    @Test
    void a_table_is_looked_up_by_the_number_of_rows() {
        TilePlans plans = plans(FIRST, LAST, INVARIANT).of(0, ElementType.F16);
        assertThat(plans.fastest(8).qkv()).isEqualTo(new GemmPlan(8, 1, 12));
        assertThat(plans.fastest(9).mlpOutput()).isEqualTo(new GemmPlan(64, 2, 6));
        assertThat(plans.fastest(1_000_000).single().stages()).isEqualTo(5);
        assertThat(plans.invariant(9).single().kernel().kernel).isEqualTo("attention_prefill_single");
        assertThat(plans.rangeEnds()).containsExactly(8);
    }

    @Test
    void a_table_is_looked_up_by_the_millions_of_weights_in_a_layer() {
        String small = LAST.replace("0-,9-", "0-9,1-");
        String large = LAST.replace("0-,9-", "10-,1-").replace("128:1:5", "64:1:3");
        TileTable plans = plans(small, large, INVARIANT);
        assertThat(plans.of(9_999_999, ElementType.F16).fastest(64).head()).isEqualTo(new GemmPlan(128, 1, 5));
        assertThat(plans.of(10_000_000, ElementType.F16).fastest(64).head()).isEqualTo(new GemmPlan(64, 1, 3));
        assertThat(plans.of(Long.MAX_VALUE, ElementType.F16).fastest(64).head()).isEqualTo(new GemmPlan(64, 1, 3));
        assertThat(plans.of(0, ElementType.F16).invariant(64))
                .isEqualTo(plans.of(10_000_000, ElementType.F16).invariant(64));
    }

    /** Layers in place of those of the second line, from 10 million weights on. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "11-; no line covers the layer 10 to 10",
                "9-; layer 9- overlap the line before, which ends at 9",
                "10-20; the plan fastest covers no layers from 21 million weights on",
                "0-12; layers of 0-12 begin as the line before and end elsewhere",
                "large; the column layer is \"large\""
            })
    void sizes_of_layers_that_leave_a_gap_or_overlap_are_refused(String layer, String why) {
        String small = LAST.replace("0-,9-", "0-9,1-");
        String large = LAST.replace("0-,9-", layer + ",1-");
        assertThatThrownBy(() -> plans(small, large, INVARIANT))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("kernels/contract/plans.csv, line 4: ")
                .hasMessageContaining(why);
    }

    @Test
    void a_size_of_layer_that_does_not_cover_all_rows_is_refused() {
        String small = FIRST.replace("0-,", "0-9,");
        assertThatThrownBy(() -> plans(small, LAST.replace("0-,9-", "10-,1-"), INVARIANT))
                .hasMessageContaining("line 3: the plan fastest covers no rows from 9 on");
    }

    /** Of many panels this tile holds an even number, 12, which fits; of 26, whose blocks hold all they read, 13. */
    @Test
    void a_tile_that_fits_only_longer_matrices_is_refused() {
        plans(LAST.replace("0-,9-,64:1:6", "0-,1-,64:2:12"), INVARIANT);
        assertThatThrownBy(() -> plans(LAST.replace("0-,9-,64:1:6", "0-,1-,64:2:13"), INVARIANT))
                .hasMessageContaining("64:2:13 for qkv: 230400 bytes of shared memory");
    }

    /** A line in place of the second, which the file has as its fourth. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "fastest,0-,10-,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; no line covers the rows 9 to 9",
                "fastest,0-,8-,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; overlap the line before, which ends at 8",
                "fastest,0-,9-4,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; end before they begin",
                "fastest,0-,all,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; the column rows is \"all\"",
                "fastest,0-,9-,64:1:6,decode:5,64:1:6,64:1:6,64:2:6; 8 columns; 9 are expected",
                "slowest,0-,9-,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; the plan is \"slowest\"",
                "fastest,0-,9-,48:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; 48:1:6 for qkv: a tile of 48 rows",
                "fastest,0-,9-,64:3:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; 64:3:6 for qkv: a cluster of 3",
                "fastest,0-,9-,64:1:6,decode:5,64:1:6,128:4:3,64:2:6,128:1:5; 128:4:3 for mlp inner: a cluster of 4",
                "fastest,0-,9-,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,256:1:3; 256:1:3 for head: a tile of 256 rows",
                "fastest,0-,9-,64:1:1,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; 64:1:1 for qkv: 1 stages",
                "fastest,0-,9-,64:1:6,decode:5,64:1:6,64:1:6,64:2:6,128:1:9; 128:1:9 for head: 295936 bytes of shared memory",
                "fastest,0-,9-,64:1:6,decode:3,64:1:6,64:1:6,64:2:6,128:1:5; the kernel takes 4 to 56",
                "fastest,0-,9-,64:1:6,prefill_single:8,64:1:6,64:1:6,64:2:6,128:1:5; decode and decode_held are allowed",
                "fastest,0-,9-,a tile,decode:5,64:1:6,64:1:6,64:2:6,128:1:5; the column qkv is \"a tile\""
            })
    void a_line_that_does_not_fit_is_refused_by_its_number(String line, String why) {
        assertThatThrownBy(() -> plans(FIRST, line, INVARIANT))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("kernels/contract/plans.csv, line 4: ")
                .hasMessageContaining(why);
    }

    @Test
    void a_plan_that_ends_is_refused() {
        assertThatThrownBy(() -> plans(FIRST, INVARIANT))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("line 3: the plan fastest covers no rows from 9 on");
        assertThatThrownBy(() -> plans(FIRST, LAST))
                .hasMessageContaining("the plan invariant covers no rows from 1 on");
    }

    @Test
    void a_line_behind_one_without_an_end_is_refused() {
        assertThatThrownBy(() -> plans(FIRST, LAST, LAST))
                .hasMessageContaining("line 5: rows 9- follow a line without an end");
    }

    @Test
    void a_table_without_its_header_is_refused() {
        assertThatThrownBy(() -> TilePlanParser.parse(List.of(FIRST)))
                .hasMessageContaining("line 1: the first line must be plan,layer");
    }

    @Test
    void weights_of_bytes_have_a_plan_of_their_own_and_share_the_invariant_one() {
        TileTable table = plans(FIRST, LAST, INVARIANT);
        assertThat(table.of(0, ElementType.INT8).fastest(100).mlpOutput()).isEqualTo(new GemmPlan(8, 8, 3));
        assertThat(table.of(0, ElementType.INT8).invariant(100))
                .isEqualTo(table.of(0, ElementType.F16).invariant(100));
    }

    /** Stages of bytes have two panels of activations, so these tiles fit in the fastest plan. */
    @ParameterizedTest
    @CsvSource({
        "'8:2:8,decode', '256:1:3,decode', a tile of 256 rows; a power of two from 8 to 128 is allowed",
        "'8:1:4', '128:1:3', a tile of 128 rows; a power of two from 8 to 64 is allowed",
        "'8:2:8,decode', '64:1:10,decode', 64:1:10 for qkv: 246784 bytes of shared memory",
        "'8:2:8,decode', '128:2:4,decode', 128:2:4 for qkv: 263168 bytes of shared memory"
    })
    void tiles_that_weights_of_bytes_do_not_have_are_refused(String tile, String other, String why) {
        List<String> lines = List.of(HEADER, FIRST, LAST, INVARIANT, INT8.replace(tile, other));
        assertThatThrownBy(() -> TilePlanParser.parse(lines))
                .hasMessageContaining("line 5: ")
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "invariant,0-,9-,128:1:3,prefill_single:8,64:1:6,64:1:6,64:4:8,64:1:3",
                "invariant,0-,9-,64:1:6,prefill_single:8,64:1:6,64:1:6,64:2:8,64:1:3",
                "invariant,0-,9-,64:1:6,prefill_single:8,64:1:6,64:1:6,64:4:8,128:1:3"
            })
    void an_invariant_plan_that_sums_in_two_orders_is_refused(String line) {
        String first = INVARIANT.replace(",1-,", ",1-8,");
        assertThatThrownBy(() -> plans(FIRST, LAST, first, line))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("line 6")
                .hasMessageContaining("sums in another order");
    }

    @Test
    void an_invariant_plan_that_does_not_fit_weights_of_bytes_is_refused() {
        String fits = INVARIANT.replace("8:1:12,prefill", "64:1:9,prefill");
        assertThat(plans(FIRST, LAST, fits).invariant()).hasSize(1);
        assertThatThrownBy(() -> plans(FIRST, LAST, fits.replace("64:1:9", "64:1:10")))
                .hasMessageContaining("line 5: 64:1:10 for qkv: 246784 bytes of shared memory");
    }

    private static Set<String> kernels() {
        Set<String> kernels = new HashSet<>(
                Set.of("attention_decode_f16", "attention_decode_held_f16", "attention_prefill_single_f16"));
        for (String matrix : new String[] {"qkv", "rotated", "residual", "activation", "gated", "head"}) {
            for (int batch : new int[] {8, 16, 32, 64, 128}) {
                kernels.add("gemm_" + matrix + "_f16_b" + batch);
            }
        }
        return kernels;
    }

    @Test
    void a_tile_that_was_not_compiled_is_refused_by_its_line_and_kernel() {
        TileTable plans = plans(FIRST, LAST, INVARIANT);
        plans.requireKernels(kernels(), ElementType.F16);
        Set<String> fewer = kernels();
        fewer.remove("gemm_activation_f16_b64");
        assertThatThrownBy(() -> plans.requireKernels(fewer, ElementType.F16))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("plans.csv, line 4: 64:1:6 needs the kernel gemm_activation_f16_b64")
                .hasMessageContaining("there are gemm_activation_f16_b128, gemm_activation_f16_b16");
        Set<String> noSingles = kernels();
        noSingles.remove("attention_prefill_single_f16");
        assertThatThrownBy(() -> plans.requireKernels(noSingles, ElementType.F16))
                .hasMessageContaining("line 5: attention_prefill_single needs the kernel attention_prefill_single_f16")
                .hasMessageContaining("there is none of its kind");
    }

    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"F16", "BF16", "INT8"})
    void the_table_of_this_build_fits_its_kernels(ElementType type) {
        Optional<KernelImages> images = KernelImages.find();
        assumeTrue(images.isPresent(), "this build was made without nvcc");
        TileTable.load().requireKernels(images.orElseThrow().kernels(KernelTarget.SM_90A), type);
    }

    @Test
    void the_table_is_one_that_is_not_refused() {
        assertThat(TileTable.load()).isNotNull();
    }

    @Test
    void the_readme_shows_the_table() throws IOException {
        List<String> table = Contract.lines("plans.csv").stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> "| " + line.replace(",", " | ") + " |")
                .toList();
        List<String> readme = Files.readAllLines(Path.of("kernels/README.md"));
        int at = readme.indexOf(table.getFirst());
        assertThat(at).as("line of the table's header in kernels/README.md").isPositive();
        for (int line = 1; line < table.size(); line++) {
            assertThat(readme.get(at + 1 + line))
                    .as("line %d of kernels/README.md, of line %d of the plans", at + 2 + line, line)
                    .isEqualTo(table.get(line));
        }
        assertThat(readme.get(at + 1 + table.size())).isEmpty();
    }
}
