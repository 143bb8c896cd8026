package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.WorkCounter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BytePairMergerTest {

    /** The textbook algorithm: merge the first pair of the lowest rank, and repeat. */
    private static List<Integer> textbook(MergeTable merges, List<Integer> word) {
        List<Integer> symbols = new ArrayList<>(word);
        while (true) {
            int best = -1;
            int bestRank = MergeTable.NO_MERGE;
            for (int i = 0; i + 1 < symbols.size(); i++) {
                int rank = merges.rank(symbols.get(i), symbols.get(i + 1));
                if (rank < bestRank) {
                    bestRank = rank;
                    best = i;
                }
            }
            if (best < 0) {
                return symbols;
            }
            symbols.set(best, merges.merged(bestRank));
            symbols.subList(best + 1, best + 2).clear();
        }
    }

    private static MergeTable randomMerges(Random random, int letters, int count) {
        MergeTable merges = new MergeTable(count);
        for (int i = 0; i < count; i++) {
            merges.add(random.nextInt(letters + i), random.nextInt(letters + i), letters + i);
        }
        return merges;
    }

    @Test
    void ids_equal_the_textbooks_for_random_merges_and_words() {
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            int letters = 1 + random.nextInt(4);
            MergeTable merges = randomMerges(random, letters, 1 + random.nextInt(60));
            BytePairMerger merger = new BytePairMerger(merges, new WorkCounter());
            for (int i = 0; i < 40; i++) {
                List<Integer> word =
                        random.ints(random.nextInt(80), 0, letters).boxed().toList();
                word.forEach(merger::add);
                IdList ids = new IdList(0);
                merger.merge(ids);
                assertThat(ids.toArray())
                        .as("seed %d word %s", seed, word)
                        .containsExactly(textbook(merges, word).toArray(Integer[]::new));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 10, 1 << 15, 1 << 20})
    void steps_grow_linearly_with_the_length_of_the_word(int length) {
        MergeTable doubling = new MergeTable(20);
        for (int i = 0; i < 20; i++) {
            doubling.add(i, i, i + 1);
        }
        WorkCounter work = new WorkCounter();
        BytePairMerger merger = new BytePairMerger(doubling, work);
        for (int i = 0; i < length; i++) {
            merger.add(0);
        }
        IdList ids = new IdList(0);
        merger.merge(ids);
        assertThat(ids.toArray()).containsExactly(Integer.numberOfTrailingZeros(length));
        // One per symbol, one per pair initially, at most two per merge, and two per candidate.
        assertThat(work.count()).isLessThan(9L * length);
    }

    @Test
    void interrupt_ends_the_merges_of_a_long_word() {
        MergeTable doubling = new MergeTable(1);
        doubling.add(0, 0, 1);
        BytePairMerger merger = new BytePairMerger(doubling, new WorkCounter());
        for (int i = 0; i < 100_000; i++) {
            merger.add(0);
        }
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> merger.merge(new IdList(0))).isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void table_of_many_merges_finds_exactly_its_merges() {
        Random random = new Random(51);
        MergeTable merges = randomMerges(random, 256, 20_000);
        for (int rank = 0; rank < 20_000; rank++) {
            assertThat(merges.merged(rank)).isEqualTo(256 + rank);
        }
        assertThat(merges.rank(1 << 23, 1)).isEqualTo(MergeTable.NO_MERGE);
        assertThat(new MergeTable(0).rank(0, 0)).isEqualTo(MergeTable.NO_MERGE);
    }
}
