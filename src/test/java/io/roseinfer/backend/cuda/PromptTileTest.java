package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The tiles of the prompt GEMM, and which of them a matrix gets. */
class PromptTileTest {
    private static final List<PromptTile> TILES = PromptTile.load();
    private static final int MULTIPROCESSORS = 132;

    /** Dynamic shared memory of a block on Hopper: 227 KB less the largest static shared memory of these kernels. */
    private static final int MAX_SHARED_BYTES = 232_448 - 6_300;

    private static PromptTile chosen(int rows, int outputs, int inputs) {
        return PromptTile.choose(TILES, rows, outputs, inputs / 64, MULTIPROCESSORS);
    }

    @Test
    void tiles_fit_a_block_of_the_device() {
        assertThat(TILES).hasSizeGreaterThan(1).allSatisfy(tile -> {
            assertThat(tile.sharedBytes()).isLessThanOrEqualTo(MAX_SHARED_BYTES);
            assertThat(tile.columns()).isIn(128, 192, 256);
            assertThat(tile.cluster()).isIn(1, 2);
        });
    }

    /** A cluster that splits k computes one tile, a block loops over tiles, and a pair has two row tiles at a time. */
    @Test
    void grid_covers_every_tile() {
        for (PromptTile tile : TILES) {
            for (int rows : new int[] {1, 128, 129, 5000}) {
                for (int outputs : new int[] {128, 640, 28_672}) {
                    int tall = Math.ceilDiv(rows, 128);
                    int tiles = (tile.pair() == 2 ? tall + tall % 2 : tall) * Math.ceilDiv(outputs, tile.columns());
                    int blocks = tile.blocks(rows, outputs, MULTIPROCESSORS);
                    assertThat(blocks)
                            .as("%s for %d x %d", tile.name(), rows, outputs)
                            .isEqualTo(tile.split() == 2 ? 2 * tiles : Math.min(tiles, MULTIPROCESSORS));
                }
            }
        }
    }

    /** A graph of a bucket computes padding tokens up to the next multiple of the tile's rows at most. */
    @Test
    void prompts_with_equal_tile_rows_have_one_tile() {
        for (int outputs : new int[] {768, 3072, 16_384}) {
            for (int rows = 129; rows <= 2048; rows++) {
                PromptTile full = chosen((rows + 127) / 128 * 128, outputs, 1024);
                assertThat(chosen(rows, outputs, 1024)).isEqualTo(full);
            }
        }
    }

    /** {@code gemm_qkv_norm_rope} exists for these tiles alone. */
    @Test
    void tiles_of_whole_heads_are_those_with_qk_norm() {
        assertThat(TILES)
                .filteredOn(PromptTile::wholeHeads)
                .extracting(PromptTile::name)
                .containsExactly("coop128", "coop256");
    }

    /** With an odd number of row tiles, half of the last pair computes nothing. */
    @Test
    void pairs_run_matrices_of_several_rounds() {
        assertThat(chosen(8192, 28_672, 4096).pair()).isEqualTo(2);
        assertThat(chosen(1024, 4096, 1024).pair()).isEqualTo(1);
        assertThat(chosen(3 * 128, 28_672, 4096).pair()).isEqualTo(1);
    }

    @Test
    void every_tile_is_chosen_for_a_prompt() {
        assertThat(IntStream.rangeClosed(1, 64)
                        .boxed()
                        .flatMap(tall -> IntStream.of(1024, 2048, 3072, 4096, 6144, 16_384)
                                .boxed()
                                .flatMap(outputs -> IntStream.of(1024, 2048, 4096, 8192)
                                        .mapToObj(inputs -> chosen(128 * tall, outputs, inputs))))
                        .distinct())
                .containsExactlyInAnyOrderElementsOf(TILES);
    }

    /** 3 stages of 128 + 128 panel rows of 128 bytes, 1000 bytes for a peer, and 1024 to align the first panel. */
    @Test
    void shared_memory_has_the_stages_the_exchange_and_an_alignment() {
        assertThat(new PromptTile("tile", 128, 1, 1, 3, 1000, 1, 1).sharedBytes())
                .isEqualTo(98_304 + 1000 + 1024);
    }

    @Test
    void pairs_leave_out_a_multiprocessor_without_a_partner() {
        PromptTile paired = new PromptTile("pair", 128, 1, 2, 3, 0, 1, 1);
        assertThat(paired.blocks(8192, 8192, 131)).isEqualTo(130);
        assertThat(paired.blocks(8192, 8192, 1)).isEqualTo(2);
    }
}
