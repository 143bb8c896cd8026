package io.roseinfer.kv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrefixCacheTest {
    private static final int BLOCK = 4;

    private static int[] prompt(int length) {
        return IntStream.range(0, length).map(i -> 100 + i).toArray();
    }

    private static BlockTable computed(KvBlockPool pool, int[] tokens) {
        BlockTable table = new BlockTable(pool, tokens.length);
        table.reuse(tokens, tokens.length);
        table.grow(tokens.length);
        table.publish(tokens, tokens.length);
        return table;
    }

    /** The last token is always computed, so a prompt of full blocks does not reuse its last block. */
    @ParameterizedTest
    @CsvSource({"1,0", "4,0", "5,4", "8,4", "9,8", "12,8", "13,12"})
    void equal_prompt_reuses_all_full_blocks_before_its_last_token(int length, int reused) {
        KvBlockPool pool = new KvBlockPool(16, BLOCK, true);
        computed(pool, prompt(length)).release();
        BlockTable second = new BlockTable(pool, length);
        assertThat(second.reuse(prompt(length), length)).isEqualTo(reused);
    }

    @ParameterizedTest
    @CsvSource({"1,0", "4,0", "5,4", "8,4", "9,8", "12,8", "13,12"})
    void reusable_and_published_prefixes_are_those_that_an_equal_prompt_reuses(int length, int reused) {
        PublishedPrefixes published = new PublishedPrefixes(16);
        KvBlockPool pool = new KvBlockPool(16, BLOCK, true, published);
        computed(pool, prompt(20)).release();
        assertThat(new BlockTable(pool, 20).reusable(prompt(20), length)).isEqualTo(reused);
        assertThat(published.countKnown(PublishedPrefixes.prefixHashes(prompt(length), BLOCK)) * BLOCK)
                .isEqualTo(reused);
    }

    @Test
    void blocks_put_back_are_evicted_last_one_first() {
        KvBlockPool pool = new KvBlockPool(2, BLOCK, true);
        computed(pool, prompt(8)).release();
        BlockTable table = new BlockTable(pool, 9);
        assertThat(table.reuse(prompt(9), 9)).isEqualTo(8);
        table.putBack();
        assertThat(new BlockTable(pool, 4).grow(4)).isTrue();
        assertThat(new BlockTable(pool, 9).reusable(prompt(9), 9)).isEqualTo(4);
    }

    @Test
    void prefix_computed_by_two_tables_is_published_until_its_only_entry_is_evicted() {
        PublishedPrefixes published = new PublishedPrefixes(8);
        KvBlockPool pool = new KvBlockPool(8, BLOCK, true, published);
        List<BlockTable> tables = List.of(new BlockTable(pool, 4), new BlockTable(pool, 4));
        for (BlockTable table : tables) {
            assertThat(table.grow(4)).isTrue();
        }
        for (BlockTable table : tables) {
            table.publish(prompt(4), 4);
        }
        tables.forEach(BlockTable::release);
        long[] prefix = PublishedPrefixes.prefixHashes(prompt(5), BLOCK);
        assertThat(published.countKnown(prefix)).isOne();
        pool.evictAll();
        assertThat(published.countKnown(prefix)).isZero();
    }

    @Test
    void table_matches_what_another_has_published_only_if_all_tokens_are_equal() {
        KvBlockPool pool = new KvBlockPool(16, BLOCK, true);
        BlockTable other = computed(pool, prompt(8));
        BlockTable equal = new BlockTable(pool, 9);
        assertThat(equal.reuse(prompt(9), 9)).isEqualTo(8);
        assertThat(equal.matchesPublishedPrefixOf(other)).isTrue();
        int[] tokens = {1, 2, 3, 4, 104, 105, 106, 107, 108};
        computed(pool, tokens).release();
        BlockTable different = new BlockTable(pool, 9);
        assertThat(different.reuse(tokens, 9)).isEqualTo(8);
        assertThat(different.matchesPublishedPrefixOf(other)).isFalse();
    }

    @Test
    void prompts_share_only_the_blocks_of_their_common_prefix() {
        KvBlockPool pool = new KvBlockPool(16, BLOCK, true);
        int[] first = prompt(16);
        BlockTable held = computed(pool, first);
        int[] second = prompt(16);
        second[9] = 7;
        BlockTable other = new BlockTable(pool, 16);
        assertThat(other.reuse(second, 16)).isEqualTo(8);
        assertThat(other.block(0)).isEqualTo(held.block(0));
        assertThat(other.block(1)).isEqualTo(held.block(1));
        pool.check(List.of(held, other));
    }

    @Test
    void equal_tokens_after_another_prefix_are_a_miss() {
        KvBlockPool pool = new KvBlockPool(16, BLOCK, true);
        computed(pool, new int[] {1, 1, 1, 1, 5, 5, 5, 5, 9});
        BlockTable other = new BlockTable(pool, 9);
        assertThat(other.reuse(new int[] {5, 5, 5, 5, 5, 5, 5, 5, 9}, 9)).isZero();
    }

    /** 64 blocks have 128 buckets, so some of the 64 entries share a bucket. */
    @Test
    void entries_of_one_bucket_are_distinguished_and_evicted_one_by_one() {
        long seed = 20;
        Random random = new Random(seed);
        PrefixCache cache = new PrefixCache(64, 1, null);
        int[] token = new int[64];
        for (int block = 0; block < 64; block++) {
            token[block] = block;
            cache.publish(block, PrefixCache.ROOT, token, block);
            assertThat(cache.addIdle(block)).isTrue();
        }
        for (int round = 0; round < 10_000; round++) {
            int forgotten = cache.evict();
            int fresh = random.nextInt(1_000_000);
            boolean isKnown = IntStream.of(token).anyMatch(known -> known == fresh) && token[forgotten] != fresh;
            int[] wanted = {token[forgotten], fresh};
            assertThat(cache.find(PrefixCache.ROOT, wanted, 0))
                    .as("seed %d round %d", seed, round)
                    .isEqualTo(KvBlockPool.NONE);
            if (!isKnown) {
                token[forgotten] = fresh;
            }
            cache.publish(forgotten, PrefixCache.ROOT, token, forgotten);
            assertThat(cache.addIdle(forgotten)).isTrue();
            int asked = random.nextInt(64);
            assertThat(cache.find(PrefixCache.ROOT, token, asked))
                    .as("seed %d round %d", seed, round)
                    .isEqualTo(asked);
        }
    }

    @Test
    void least_recently_used_block_is_evicted_first_and_tails_before_heads() {
        KvBlockPool pool = new KvBlockPool(4, BLOCK, true);
        BlockTable old = computed(pool, prompt(8));
        int head = old.block(0);
        int tail = old.block(1);
        old.release();
        BlockTable recent = computed(pool, new int[] {1, 2, 3, 4});
        recent.release();
        BlockTable grown = new BlockTable(pool, 16);
        grown.grow(4);
        assertThat(pool.cached()).isEqualTo(3);
        grown.grow(8);
        assertThat(grown.block(1)).isEqualTo(tail);
        grown.grow(12);
        assertThat(grown.block(2)).isEqualTo(head);
    }

    @Test
    void entry_of_an_evicted_predecessor_is_unreachable_through_its_reused_block() {
        KvBlockPool pool = new KvBlockPool(3, BLOCK, true);
        int[] tokens = {1, 1, 1, 1, 2, 2, 2, 2, 3};
        BlockTable first = computed(pool, tokens);
        // Hold the second block alone while the first is evicted and refilled with other contents.
        int second = first.block(1);
        pool.retain(second);
        first.release();
        BlockTable other = new BlockTable(pool, 9);
        int[] others = {8, 8, 8, 8, 2, 2, 2, 2, 3};
        other.grow(8);
        other.publish(others, 4);
        BlockTable third = new BlockTable(pool, 9);
        assertThat(third.reuse(others, 9)).isEqualTo(4);
        BlockTable again = new BlockTable(pool, 9);
        assertThat(again.reuse(tokens, 9)).isZero();
    }

    @Test
    void publishing_equal_contents_twice_keeps_the_first_entry_and_both_tables_intact() {
        KvBlockPool pool = new KvBlockPool(8, BLOCK, true);
        int[] tokens = prompt(9);
        BlockTable a = new BlockTable(pool, 9);
        BlockTable b = new BlockTable(pool, 9);
        a.grow(9);
        b.grow(9);
        a.publish(tokens, 9);
        b.publish(tokens, 9);
        pool.check(List.of(a, b));
        b.release();
        pool.check(List.of(a));
        assertThat(pool.cached()).isZero();
        a.release();
        assertThat(pool.cached()).isEqualTo(2);
    }

    /**
     * A first block has no predecessor that could be evicted before it, so it is published exactly while it is cached.
     */
    @Test
    void prefixes_are_published_while_they_are_cached() {
        for (long seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            PublishedPrefixes published = new PublishedPrefixes(16);
            KvBlockPool pool = new KvBlockPool(16, BLOCK, true, published);
            List<int[]> prompts = new ArrayList<>();
            List<BlockTable> held = new ArrayList<>();
            for (int round = 0; round < 200; round++) {
                int[] prompt =
                        random.ints(BLOCK * random.nextInt(1, 4) + 1, 0, 5).toArray();
                prompts.add(prompt);
                BlockTable table = computed(pool, prompt);
                if (random.nextInt(4) == 0 && pool.available() > 8) {
                    held.add(table);
                } else {
                    table.release();
                }
                if (!held.isEmpty() && random.nextInt(3) == 0) {
                    held.removeFirst().release();
                }
                for (int[] each : prompts) {
                    int cached = new BlockTable(pool, each.length).reusable(each, each.length) / BLOCK;
                    assertThat(published.countKnown(PublishedPrefixes.prefixHashes(each, BLOCK)))
                            .as("seed %d, round %d", seed, round)
                            .satisfies(known -> assertThat(known > 0).isEqualTo(cached > 0))
                            .isGreaterThanOrEqualTo(cached);
                }
            }
        }
    }

    @Test
    void disabled_cache_never_hits() {
        KvBlockPool pool = new KvBlockPool(8, BLOCK, false);
        computed(pool, prompt(9)).release();
        assertThat(pool.cached()).isZero();
        assertThat(new BlockTable(pool, 9).reuse(prompt(9), 9)).isZero();
    }
}
