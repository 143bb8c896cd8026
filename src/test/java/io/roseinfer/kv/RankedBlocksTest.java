package io.roseinfer.kv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RankedBlocksTest {
    private static final int BLOCKS = 40;

    /** A block as an exhaustive search sees it. */
    private static final class Model {
        private final int block;
        private final @Nullable Model previous;
        private boolean idle;
        private long rank;
        private int added;

        Model(int block, @Nullable Model previous) {
            this.block = block;
            this.previous = previous;
        }
    }

    /** Returns the idle block to evict: the lowest rank, then the oldest, among those that no idle block continues. */
    private static int expected(List<Model> cached) {
        Model first = null;
        for (Model each : cached) {
            boolean isContinued = cached.stream().anyMatch(other -> other.idle && other.previous == each);
            if (each.idle
                    && !isContinued
                    && (first == null
                            || each.rank < first.rank
                            || (each.rank == first.rank && each.added < first.added))) {
                first = each;
            }
        }
        return first == null ? KvBlockPool.NONE : first.block;
    }

    @Test
    void lowest_rank_is_evicted_first_then_the_oldest_and_no_block_before_idle_ones_that_continue_it() {
        for (long seed = 0; seed < 8; seed++) {
            evictsAsExpected(seed);
        }
    }

    /** Publishes, releases, reuses and evicts at random. */
    private static void evictsAsExpected(long seed) {
        Random random = new Random(seed);
        PrefixCache cache = new PrefixCache(BLOCKS, 1, null);
        RankedBlocks ranks = cache.rank();
        List<Integer> free = new ArrayList<>(IntStream.range(0, BLOCKS).boxed().toList());
        List<Model> cached = new ArrayList<>();
        int[] nextToken = {0};
        for (int round = 0; round < 5000; round++) {
            Model any = cached.isEmpty() ? null : cached.get(random.nextInt(cached.size()));
            int choice = random.nextInt(4);
            if (choice == 0 && !free.isEmpty()) {
                Model previous = random.nextInt(4) == 0 ? null : any;
                int block = free.removeFirst();
                long serial = previous == null ? PrefixCache.ROOT : cache.serial(previous.block);
                cache.publish(block, serial, nextToken, 0);
                nextToken[0]++;
                cached.add(new Model(block, previous));
            } else if (choice == 1 && any != null && !any.idle) {
                any.rank = random.nextInt(5);
                any.added = round;
                any.idle = true;
                ranks.setRank(any.block, any.rank);
                assertThat(cache.addIdle(any.block)).isTrue();
            } else if (choice == 2 && any != null && any.idle) {
                any.idle = false;
                cache.removeIdle(any.block);
            } else if (choice == 3 && random.nextBoolean()) {
                int evicted = cache.evict();
                assertThat(evicted).as("seed %d round %d", seed, round).isEqualTo(expected(cached));
                cached.removeIf(each -> each.block == evicted);
                free.addAll(evicted == KvBlockPool.NONE ? List.of() : List.of(evicted));
            }
            assertThat(cache.idleCount())
                    .isEqualTo((int) cached.stream().filter(each -> each.idle).count());
        }
        assertThat(nextToken[0]).isGreaterThan(BLOCKS);
    }

    /** Reuses, grows, publishes and releases at once, so that no two tables compute the same block. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void equal_ranks_evict_the_blocks_that_lru_evicts(long seed) {
        Random random = new Random(seed);
        KvBlockPool lru = new KvBlockPool(BLOCKS, 2, true);
        KvBlockPool ranked = new KvBlockPool(BLOCKS, 2, true);
        ranked.setRanks((table, index, hits) -> 7);
        List<List<BlockTable>> held = new ArrayList<>();
        for (int round = 0; round < 2000; round++) {
            int[] tokens = random.ints(12, 0, 2).toArray();
            List<BlockTable> both = List.of(new BlockTable(lru, 12), new BlockTable(ranked, 12));
            both.forEach(table -> {
                table.reuse(tokens, 12);
                if (table.grow(12)) {
                    table.publish(tokens, 12);
                }
            });
            assertThat(blocks(both.get(1))).as("seed %d round %d", seed, round).isEqualTo(blocks(both.get(0)));
            held.add(both);
            while (held.size() > random.nextInt(4)) {
                held.removeFirst().forEach(BlockTable::release);
            }
        }
    }

    private static int[] blocks(BlockTable table) {
        return Arrays.copyOf(table.idsFor(0), table.size());
    }
}
