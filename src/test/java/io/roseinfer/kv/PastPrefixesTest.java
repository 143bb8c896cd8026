package io.roseinfer.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.SplitMix64;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PastPrefixesTest {
    private static final int AGE = 50;

    @Test
    void change_is_past_after_its_age_without_another_change() {
        AtomicLong clock = new AtomicLong();
        PublishedPrefixes now = new PublishedPrefixes(64);
        PastPrefixes past = new PastPrefixes(now, clock::get, AGE);
        now.add(7);
        clock.set(AGE - 1);
        assertThat(past.countKnown(new long[] {7})).isZero();
        clock.set(AGE);
        assertThat(past.countKnown(new long[] {7})).isOne();
    }

    @Test
    void past_equals_the_set_as_it_was_and_keeps_only_the_changes_within_its_age() {
        AtomicLong clock = new AtomicLong();
        PublishedPrefixes now = new PublishedPrefixes(64);
        PastPrefixes past = new PastPrefixes(now, clock::get, AGE);
        Set<Long> current = new HashSet<>();
        List<Set<Long>> history = new ArrayList<>();
        for (int nanos = 0; nanos < 2000; nanos++) {
            clock.set(nanos);
            long hash = 1 + Long.remainderUnsigned(SplitMix64.at(7, nanos), 20);
            if (current.add(hash)) {
                now.add(hash);
            } else {
                current.remove(hash);
                now.remove(hash);
            }
            history.add(Set.copyOf(current));
            Set<Long> then = nanos < AGE ? Set.of() : history.get(nanos - AGE);
            for (long each = 1; each <= 20; each++) {
                assertThat(past.countKnown(new long[] {each})).isEqualTo(then.contains(each) ? 1 : 0);
            }
            assertThat(past.changes()).isLessThanOrEqualTo(AGE);
        }
    }
}
