package io.roseinfer.kv;

import io.roseinfer.base.Clock;
import java.util.ArrayDeque;

/**
 * The prefixes that a pool had cached some time ago. Keeps the changes since then. Not thread-safe: the pool's thread
 * reads it.
 */
public final class PastPrefixes {
    private record Change(long nanos, long hash, boolean isAdded) {}

    private final PublishedPrefixes past;
    private final Clock clock;
    private final long ageNanos;
    private final ArrayDeque<Change> since = new ArrayDeque<>();

    /** Creates the past of an empty set, which must have no other. */
    public PastPrefixes(PublishedPrefixes now, Clock clock, long ageNanos) {
        this.past = now.emptyCopy();
        this.clock = clock;
        this.ageNanos = ageNanos;
        now.observe(new PublishedPrefixes.Changes() {
            @Override
            public void added(long hash) {
                keep(hash, true);
            }

            @Override
            public void removed(long hash) {
                keep(hash, false);
            }
        });
    }

    private void keep(long hash, boolean isAdded) {
        since.addLast(new Change(clock.nanos(), hash, isAdded));
        advance();
    }

    private void advance() {
        long thenNanos = clock.nanos() - ageNanos;
        for (Change next = since.peekFirst(); next != null && next.nanos <= thenNanos; next = since.peekFirst()) {
            since.removeFirst();
            if (next.isAdded) {
                past.add(next.hash);
            } else {
                past.remove(next.hash);
            }
        }
    }

    /** Returns how many of these prefixes were cached, where each extends the one before it by one block. */
    public int countKnown(long[] prefixes) {
        advance();
        return past.countKnown(prefixes);
    }

    /** Returns the number of changes kept. */
    int changes() {
        return since.size();
    }
}
