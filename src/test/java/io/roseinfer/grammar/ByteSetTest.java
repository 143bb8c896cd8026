package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ByteSetTest {
    private static int[] bytes(ByteSet set) {
        return IntStream.range(0, 256).filter(set::contains).toArray();
    }

    private static int[] range(int from, int to) {
        return IntStream.rangeClosed(from, to).toArray();
    }

    @Test
    void range_has_both_of_its_ends_in_every_word() {
        for (int low = 0; low < 256; low += 5) {
            for (int high = low; high < 256; high += 5) {
                assertThat(bytes(ByteSet.range(low, high))).isEqualTo(range(low, high));
            }
        }
    }

    @Test
    void intersection_and_union_are_those_of_all_four_words() {
        ByteSet low = ByteSet.range(0, 200);
        ByteSet high = ByteSet.range(30, 255);
        assertThat(bytes(low.intersection(high))).isEqualTo(range(30, 200));
        assertThat(bytes(low.union(high))).isEqualTo(range(0, 255));
    }
}
