package io.roseinfer.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Check;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvBlockPoolTest {

    @Test
    void allocate_returns_every_block_once() {
        KvBlockPool pool = new KvBlockPool(5, 4, false);
        Set<Integer> given = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            given.add(pool.allocate());
        }
        assertThat(given).containsExactlyInAnyOrder(0, 1, 2, 3, 4);
        assertThat(pool.allocate()).isEqualTo(KvBlockPool.NONE);
    }

    @Test
    void block_is_free_after_its_last_release() {
        KvBlockPool pool = new KvBlockPool(1, 4, false);
        int block = pool.allocate();
        pool.retain(block);
        pool.release(block);
        assertThat(pool.available()).isZero();
        pool.release(block);
        assertThat(pool.available()).isOne();
    }

    @Test
    void releasing_a_free_block_fails_a_check() {
        KvBlockPool pool = new KvBlockPool(2, 4, false);
        int block = pool.allocate();
        pool.release(block);
        assertThatThrownBy(() -> pool.release(block)).isInstanceOf(Check.Failure.class);
    }

    @Test
    void retaining_a_free_block_fails_a_check() {
        KvBlockPool pool = new KvBlockPool(2, 4, true);
        assertThatThrownBy(() -> pool.retain(0)).isInstanceOf(Check.Failure.class);
    }

    @Test
    void reuse_that_is_put_back_is_not_among_the_hits_of_a_block() {
        KvBlockPool pool = new KvBlockPool(2, 1, true);
        List<Integer> hits = new ArrayList<>();
        pool.setRanks((table, index, count) -> {
            hits.add(count);
            return 0;
        });
        int[] tokens = {7, 8};
        BlockTable table = new BlockTable(pool, 2);
        assertThat(table.grow(1)).isTrue();
        table.publish(tokens, 1);
        table.release();
        assertThat(table.reuse(tokens, 2)).isOne();
        table.putBack();
        assertThat(table.reuse(tokens, 2)).isOne();
        table.release();
        assertThat(hits).containsExactly(0, 1);
    }

    @Test
    void evicted_block_is_ranked_without_the_hits_of_its_earlier_tokens() {
        KvBlockPool pool = new KvBlockPool(1, 1, true);
        List<Integer> hits = new ArrayList<>();
        pool.setRanks((table, index, count) -> {
            hits.add(count);
            return 0;
        });
        BlockTable table = new BlockTable(pool, 1);
        int[] tokens = {7, 8};
        assertThat(table.grow(1)).isTrue();
        table.publish(tokens, 1);
        table.release();
        assertThat(table.reuse(tokens, 2)).isOne();
        table.release();
        assertThat(table.grow(1)).isTrue();
        table.publish(new int[] {9}, 1);
        table.release();
        assertThat(hits).containsExactly(0, 1, 0);
    }

    private static final int[] TOKENS = {7, 8, 9};

    /** Returns a table with the keys and values of the first two {@link #TOKENS}, in blocks of one token. */
    private static BlockTable computed(KvBlockPool pool) {
        BlockTable table = new BlockTable(pool, 3);
        table.reuse(TOKENS, 3);
        assertThat(table.grow(2)).isTrue();
        table.publish(TOKENS, 2);
        return table;
    }

    @Test
    void cached_block_is_ranked_when_its_last_table_releases_it_and_a_free_one_never() {
        KvBlockPool pool = new KvBlockPool(4, 1, true);
        List<String> ranked = new ArrayList<>();
        pool.setRanks((table, index, hits) -> {
            ranked.add(index + " with " + hits);
            return 0;
        });
        BlockTable first = computed(pool);
        BlockTable second = computed(pool);
        assertThat(first.grow(3)).isTrue();
        first.release();
        assertThat(ranked).isEmpty();
        second.release();
        assertThat(ranked).containsExactly("1 with 1", "0 with 1");
    }

    @Test
    void ranks_of_evicted_blocks_are_notified_in_the_order_of_eviction() {
        KvBlockPool pool = new KvBlockPool(2, 1, true);
        List<Long> evicted = new ArrayList<>();
        pool.setRanks(new KvBlockPool.Ranks() {
            @Override
            public long rank(BlockTable table, int index, int hits) {
                return 5L - index;
            }

            @Override
            public void evicted(long rank) {
                evicted.add(rank);
            }
        });
        computed(pool).release();
        assertThat(new BlockTable(pool, 2).grow(2)).isTrue();
        assertThat(evicted).containsExactly(4L, 5L);
    }

    @Test
    void free_and_cached_blocks_are_available() {
        KvBlockPool pool = new KvBlockPool(5, 1, true);
        computed(pool).release();
        BlockTable held = new BlockTable(pool, 1);
        assertThat(held.grow(1)).isTrue();
        assertThat(pool.cached()).isEqualTo(2);
        assertThat(pool.available()).isEqualTo(4);
    }

    @Test
    void evict_all_frees_every_cached_block_that_no_table_lists() {
        KvBlockPool pool = new KvBlockPool(3, 1, true);
        BlockTable table = computed(pool);
        pool.evictAll();
        assertThat(table.reusable(TOKENS, 3)).isEqualTo(2);
        table.release();
        pool.evictAll();
        assertThat(pool.cached()).isZero();
        assertThat(pool.available()).isEqualTo(3);
        pool.check(List.of());
    }

    @Test
    void check_finds_a_reference_without_a_table() {
        KvBlockPool pool = new KvBlockPool(2, 4, false);
        pool.allocate();
        assertThatThrownBy(() -> pool.check(List.of())).isInstanceOf(Check.Failure.class);
    }

    /** Random growth, sharing, publishing and release; the reference counts must match after every operation. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void reference_counts_match_the_tables_under_random_use(long seed) {
        Random random = new Random(seed);
        int blockSize = 1 + random.nextInt(5);
        KvBlockPool pool = new KvBlockPool(3 + random.nextInt(30), blockSize, random.nextBoolean());
        List<BlockTable> tables = new ArrayList<>();
        List<int[]> contents = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            int choice = random.nextInt(4);
            if (choice == 0 || tables.isEmpty()) {
                int[] tokens = random.ints(40, 0, 2).toArray();
                BlockTable table = new BlockTable(pool, 40);
                table.reuse(tokens, 40);
                tables.add(table);
                contents.add(tokens);
            } else {
                int at = random.nextInt(tables.size());
                BlockTable table = tables.get(at);
                switch (choice) {
                    case 1 -> table.grow(1 + random.nextInt(40));
                    case 2 ->
                        table.publish(contents.get(at), table.capacity() == 0 ? 0 : Math.min(40, table.capacity()));
                    default -> {
                        table.release();
                        tables.remove(at);
                        contents.remove(at);
                    }
                }
            }
            pool.check(tables);
            assertThat(pool.held() + pool.available()).as("seed %d", seed).isEqualTo(pool.blocks());
        }
    }
}
