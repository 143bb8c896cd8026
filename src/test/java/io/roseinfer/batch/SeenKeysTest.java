package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.batch.SeenKeys.Known;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SeenKeysTest {
    private static final RequestKey ONE = RequestKey.of("one");

    @Test
    void line_is_new_only_once() {
        SeenKeys keys = new SeenKeys();
        assertThat(keys.read(ONE)).isEqualTo(Known.NEW);
        assertThat(keys.read(ONE)).isEqualTo(Known.DUPLICATE);
        assertThat(keys.isWritten(ONE)).isFalse();
    }

    @Test
    void written_line_is_answered_once_and_then_a_duplicate() {
        SeenKeys keys = new SeenKeys();
        keys.addWritten(ONE);
        assertThat(keys.isWritten(ONE)).isTrue();
        assertThat(keys.read(ONE)).isEqualTo(Known.ANSWERED);
        assertThat(keys.read(ONE)).isEqualTo(Known.DUPLICATE);
        assertThat(keys.isWritten(ONE)).isTrue();
    }

    /** Keys that collide in few tables and slots, including all zeros and all ones. */
    private static RequestKey crowded(Random random) {
        long high =
                ((random.nextInt(2) * 255L) << 56) | (random.nextBoolean() ? random.nextInt(50) : -random.nextInt(50));
        return new RequestKey(high, (random.nextInt(40) - 20L) << 2);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void crowded_tables_agree_with_sets(long seed) {
        Random random = new Random(seed);
        SeenKeys keys = new SeenKeys();
        Set<RequestKey> read = new HashSet<>();
        Set<RequestKey> written = new HashSet<>();
        for (int i = 0; i < 20_000; i++) {
            RequestKey key = crowded(random);
            if (random.nextInt(3) == 0) {
                keys.addWritten(key);
                written.add(key);
            } else {
                Known expected =
                        read.contains(key) ? Known.DUPLICATE : written.contains(key) ? Known.ANSWERED : Known.NEW;
                assertThat(keys.read(key))
                        .as("seed %d, step %d, %s", seed, i, key)
                        .isEqualTo(expected);
                read.add(key);
            }
            RequestKey other = crowded(random);
            assertThat(keys.isWritten(other)).isEqualTo(written.contains(other));
        }
    }

    @Test
    void line_takes_20_to_30_bytes() {
        SeenKeys keys = new SeenKeys();
        Map<Integer, Double> perKey = new HashMap<>();
        for (int i = 1; i <= 300_000; i++) {
            assertThat(keys.read(RequestKey.of(Integer.toString(i)))).isEqualTo(Known.NEW);
            if (i >= 100_000 && i % 10_000 == 0) {
                perKey.put(i, (double) keys.bytes() / i);
            }
        }
        assertThat(perKey.values()).allSatisfy(bytes -> assertThat(bytes).isBetween(19.9, 31.0));
    }
}
