package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.cuda.TilePlan.DecodeAttention;
import io.roseinfer.backend.cuda.TilePlans.Line;
import io.roseinfer.backend.cuda.TileTable.Size;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks the tile plans against the limits of the kernels. */
class TileTableTest {
    private static final TileTable TABLE = TileTable.load();

    /** Dynamic shared memory of a block on Hopper: 227 KB less static shared memory. */
    private static final int MAX_SHARED_BYTES = 232_448 - 3_500;

    private static Stream<List<Size>> plans() {
        return Stream.of(TABLE.fastest(), TABLE.int8(), TABLE.invariant());
    }

    @Test
    void every_plan_covers_all_layers_and_rows_without_gaps() {
        assertThat(plans()).hasSize(3).allSatisfy(plan -> {
            int layer = 0;
            for (Size size : plan) {
                assertThat(size.firstMillion()).isEqualTo(layer);
                layer = size.lastMillion() + 1;
                int row = 1;
                for (Line line : size.lines()) {
                    assertThat(line.firstRow()).isEqualTo(row);
                    row = line.lastRow() + 1;
                }
                assertThat(size.lines().getLast().lastRow()).isEqualTo(Integer.MAX_VALUE);
            }
            assertThat(plan.getLast().lastMillion()).isEqualTo(Integer.MAX_VALUE);
        });
    }

    @Test
    void table_lookup_is_by_layer_size_and_rows() {
        for (Size size : TABLE.fastest()) {
            long smallest = size.firstMillion() * 1_000_000L;
            for (Line line : size.lines()) {
                assertThat(TABLE.of(smallest, ElementType.F16).fastest(line.firstRow()))
                        .isEqualTo(line.plan());
            }
            long largest = size.lastMillion() == Integer.MAX_VALUE ? Long.MAX_VALUE : smallest + 999_999;
            assertThat(TABLE.of(largest, ElementType.F16).fastest(1_000_000))
                    .isEqualTo(size.lines().getLast().plan());
        }
        assertThat(TABLE.of(0, ElementType.INT8).fastest(1))
                .isEqualTo(TABLE.int8().getFirst().lines().getFirst().plan());
    }

    /** Returns each tile with its weight types; the invariant plan also serves int8. */
    @Test
    void every_tile_exists() {
        requireTiles(TABLE.fastest(), ElementType.F16);
        requireTiles(TABLE.int8(), ElementType.INT8);
        requireTiles(TABLE.invariant(), ElementType.F16);
        requireTiles(TABLE.invariant(), ElementType.INT8);
    }

    /** Checks the limits of {@code gemm_entries.cuh}. */
    private static void requireTiles(List<Size> plan, ElementType weights) {
        for (TilePlan line : lines(plan)) {
            for (int i = 0; i < line.matrices().size(); i++) {
                GemmPlan tile = line.matrices().get(i);
                boolean head = i == line.matrices().size() - 1;
                if (tile.prompt()) {
                    assertThat(head || weights == ElementType.INT8)
                            .as("the prompt GEMM has neither a head nor int8 weights")
                            .isFalse();
                    continue;
                }
                int tallest = head && weights == ElementType.INT8 ? 64 : 128;
                assertThat(tile.batch()).as("rows of %s", tile).isIn(powers(8, tallest));
                int largest = head ? 1 : tile.batch() == 128 ? 2 : 8;
                assertThat(tile.cluster()).as("cluster of %s", tile).isIn(powers(1, largest));
                assertThat(tile.maxStages()).as("stages of %s", tile).isBetween(2, 16);
                for (int panels : new int[] {Integer.MAX_VALUE / 2, tile.maxStages() * tile.cluster()}) {
                    assertThat(tile.tile(head, panels, weights).sharedBytes())
                            .as("shared memory of %s with %s weights", tile, weights)
                            .isLessThanOrEqualTo(MAX_SHARED_BYTES);
                }
            }
        }
    }

    private static List<Integer> powers(int first, int last) {
        return Stream.iterate(first, power -> power <= last, power -> 2 * power).toList();
    }

    private static List<TilePlan> lines(List<Size> plan) {
        return plan.stream()
                .flatMap(size -> size.lines().stream())
                .map(Line::plan)
                .toList();
    }

    @Test
    void decode_attention_stages_are_supported() {
        assertThat(plans().flatMap(plan -> lines(plan).stream()))
                .allSatisfy(line -> assertThat(line.decodeAttention().stages())
                        .isBetween(
                                line.decodeAttention().kernel().minStages,
                                line.decodeAttention().kernel().maxStages));
    }

    @Test
    void invariant_plan_has_one_order_of_additions() {
        for (Size size : TABLE.invariant()) {
            List<TilePlan> lines = lines(List.of(size));
            assertThat(lines).allSatisfy(line -> {
                assertThat(line.decodeAttention().kernel()).isEqualTo(DecodeAttention.Kernel.DECODE_INVARIANT);
                assertThat(line.matrices()).allMatch(tile -> tile.batch() <= 64);
                assertThat(line.matrices().stream().map(GemmPlan::cluster))
                        .isEqualTo(lines.getFirst().matrices().stream()
                                .map(GemmPlan::cluster)
                                .toList());
            });
        }
        assertThat(Stream.of(TABLE.fastest(), TABLE.int8()).flatMap(plan -> lines(plan).stream()))
                .noneMatch(line -> line.decodeAttention().kernel() == DecodeAttention.Kernel.DECODE_INVARIANT);
    }

    /** Epilogues that compute each matrix, depending on the model. */
    private static final List<List<String>> EPILOGUES = List.of(
            List.of("qkv", "qkv_rope"),
            List.of("residual"),
            List.of("activation", "gated"),
            List.of("residual"),
            List.of("head"));

    /** Epilogues without int8 weights. */
    private static final Set<String> NOT_INT8 = Set.of("qkv", "activation");

    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"F16", "BF16", "INT8"})
    void each_tile_and_attention_kernel_is_compiled(ElementType type) {
        Optional<KernelImages> images = KernelImages.find();
        assumeTrue(images.isPresent(), "this build was made without nvcc");
        Set<String> kernels = images.orElseThrow().kernels(KernelTarget.SM_90A);
        List<Size> quickest = type == ElementType.INT8 ? TABLE.int8() : TABLE.fastest();
        for (TilePlan line : Stream.concat(lines(quickest).stream(), lines(TABLE.invariant()).stream())
                .toList()) {
            for (int i = 0; i < EPILOGUES.size(); i++) {
                GemmPlan tile = line.matrices().get(i);
                for (String suffix : tile.prompt()
                        ? PromptTile.load().stream().map(PromptTile::name).toList()
                        : List.of(tile.suffix())) {
                    assertThat(EPILOGUES.get(i).stream()
                                    .filter(epilogue -> type != ElementType.INT8 || !NOT_INT8.contains(epilogue))
                                    .map(epilogue -> "gemm_" + epilogue + "_" + type.suffix() + "_" + suffix))
                            .allMatch(kernels::contains);
                }
            }
            assertThat(kernels)
                    .contains(line.decodeAttention().kernel().kernel + "_"
                            + type.activations().suffix());
        }
    }

    @Test
    void last_million_of_a_layer_size_includes_its_fraction() {
        Size first = TABLE.fastest().getFirst();
        long last = first.lastMillion() * 1_000_000L + 999_999;
        TilePlans plans = TABLE.of(last, ElementType.F16);
        assertThat(first.lines())
                .allSatisfy(line -> assertThat(plans.fastest(line.firstRow())).isEqualTo(line.plan()));
        TilePlans next = TABLE.of(last + 1, ElementType.F16);
        assertThat(TABLE.fastest().get(1).lines())
                .allSatisfy(line -> assertThat(next.fastest(line.firstRow())).isEqualTo(line.plan()));
    }
}
