package io.roseinfer.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Check;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BlockTableTest {

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "3,1", "4,1", "5,2", "8,2", "9,3"})
    void grow_allocates_the_minimum_number_of_blocks(int tokens, int blocks) {
        KvBlockPool pool = new KvBlockPool(4, 4, false);
        BlockTable table = new BlockTable(pool, 16);
        assertThat(table.grow(tokens)).isTrue();
        assertThat(table.size()).isEqualTo(blocks);
        assertThat(pool.held()).isEqualTo(blocks);
    }

    @Test
    void blocks_keep_their_order_while_the_table_grows() {
        KvBlockPool pool = new KvBlockPool(1000, 4, false);
        BlockTable table = new BlockTable(pool, 4000);
        List<Integer> blocks = new ArrayList<>();
        for (int tokens = 1; tokens <= 4000; tokens++) {
            assertThat(table.grow(tokens)).isTrue();
            if (tokens % 4 == 1) {
                blocks.add(table.block(table.size() - 1));
            }
        }
        assertThat(blocks).doesNotHaveDuplicates().hasSize(1000);
        for (int i = 0; i < blocks.size(); i++) {
            assertThat(table.block(i)).isEqualTo(blocks.get(i));
            assertThat(table.idsFor(4000)[i]).isEqualTo(blocks.get(i));
        }
        table.release();
        pool.check(List.of());
    }

    @Test
    void table_grows_to_its_maximum_if_the_last_block_is_not_full() {
        BlockTable table = new BlockTable(new KvBlockPool(20, 4, false), 70);
        for (int tokens = 1; tokens <= 70; tokens++) {
            assertThat(table.grow(tokens)).isTrue();
        }
        assertThat(table.size()).isEqualTo(18);
    }

    @Test
    void grow_keeps_its_blocks_when_the_pool_is_exhausted() {
        KvBlockPool pool = new KvBlockPool(2, 4, false);
        BlockTable table = new BlockTable(pool, 16);
        assertThat(table.grow(12)).isFalse();
        assertThat(table.size()).isEqualTo(2);
        table.release();
        pool.check(List.of());
    }

    @Test
    void shrink_after_grow_restores_the_pool() {
        KvBlockPool pool = new KvBlockPool(8, 4, true);
        BlockTable table = new BlockTable(pool, 32);
        table.grow(6);
        table.publish(new int[6], 6);
        for (int drafts = 0; drafts <= 16; drafts++) {
            table.grow(6 + drafts);
            table.shrink(6);
            assertThat(table.size()).isEqualTo(2);
            assertThat(pool.available()).isEqualTo(6);
            pool.check(List.of(table));
        }
        assertThat(table.idsFor(6)).startsWith(table.block(0), table.block(1));
    }

    @Test
    void shrink_keeps_published_blocks() {
        BlockTable table = new BlockTable(new KvBlockPool(8, 4, true), 32);
        table.grow(8);
        table.publish(new int[8], 8);
        assertThatThrownBy(() -> table.shrink(4)).isInstanceOf(Check.Failure.class);
    }

    @Test
    void more_tokens_than_the_blocks_hold_fail_a_check() {
        KvBlockPool pool = new KvBlockPool(8, 4, false);
        BlockTable table = new BlockTable(pool, 16);
        table.grow(8);
        assertThat(table.idsFor(8)).startsWith(table.block(0), table.block(1));
        assertThatThrownBy(() -> table.idsFor(9))
                .isInstanceOf(Check.Failure.class)
                .hasMessageContaining("9 tokens need more than 2 blocks");
    }
}
