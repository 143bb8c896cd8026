package io.roseinfer.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenMaskTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 31, 32, 33, 64, 65, 1000})
    void mask_equals_a_bit_set(int vocabulary) {
        Random random = new Random(vocabulary);
        TokenMask mask = new TokenMask(vocabulary);
        BitSet expected = new BitSet();
        for (int i = 0; i < vocabulary; i++) {
            int token = random.nextInt(vocabulary);
            mask.allow(token);
            expected.set(token);
            int other = random.nextInt(vocabulary);
            mask.forbid(other);
            expected.clear(other);
        }
        MemorySegment words = Arena.ofAuto().allocate(4L * TokenMask.words(vocabulary) + 8, 4);
        mask.copyTo(words, 4);
        for (int token = 0; token < vocabulary; token++) {
            assertThat(mask.allows(token)).isEqualTo(expected.get(token));
            assertThat(mask.nextAllowed(token)).isEqualTo(expected.nextSetBit(token));
            int word = words.get(ValueLayout.JAVA_INT, 4 + 4L * (token / 32));
            assertThat((word >>> token % 32 & 1) != 0).isEqualTo(expected.get(token));
        }
        assertThat(words.get(ValueLayout.JAVA_INT, words.byteSize() - 4)).isZero();
        assertThat(mask.nextAllowed(vocabulary)).isEqualTo(TokenMask.NONE);
        mask.clear();
        assertThat(mask.nextAllowed(0)).isEqualTo(TokenMask.NONE);
    }

    @Test
    void token_outside_the_vocabulary_is_rejected() {
        assertThatThrownBy(() -> new TokenMask(70).allow(70))
                .isInstanceOf(Check.Failure.class)
                .hasMessageContaining("allowed token 70");
        assertThatThrownBy(() -> new TokenMask(70).forbid(-1)).isInstanceOf(Check.Failure.class);
    }
}
