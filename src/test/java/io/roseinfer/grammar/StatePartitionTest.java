package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class StatePartitionTest {
    private static final int SYMBOLS = 2;

    private final Random random = new Random(5);

    @Test
    void no_text_tells_states_of_one_group_apart() {
        for (int round = 0; round < 500; round++) {
            int count = 1 + random.nextInt(30);
            int[][] next = random.ints(count, 0, count)
                    .mapToObj(target -> new int[] {target, random.nextInt(Math.min(count, target + 2))})
                    .toArray(int[][]::new);
            boolean[] accepting = new boolean[count];
            for (int i = 0; i < count; i++) {
                accepting[i] = random.nextInt(6) == 0;
            }
            boolean[][] differ = different(next, accepting);
            int[] groups = new StatePartition(
                            count, SYMBOLS, (state, symbol) -> next[state][symbol], state -> accepting[state])
                    .refined();
            for (int i = 0; i < count; i++) {
                for (int j = 0; j < count; j++) {
                    assertThat(groups[i] != groups[j])
                            .as("states %d and %d of round %d", i, j, round)
                            .isEqualTo(differ[i][j]);
                }
            }
        }
    }

    /** Returns whether some text leads only one of two states to acceptance, by a fixpoint over all pairs. */
    private static boolean[][] different(int[][] next, boolean[] accepting) {
        boolean[][] differ = new boolean[next.length][next.length];
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int i = 0; i < next.length; i++) {
                for (int j = 0; j < next.length; j++) {
                    boolean now = accepting[i] != accepting[j];
                    for (int symbol = 0; symbol < SYMBOLS; symbol++) {
                        now |= differ[next[i][symbol]][next[j][symbol]];
                    }
                    changed |= now && !differ[i][j];
                    differ[i][j] |= now;
                }
            }
        }
        return differ;
    }
}
