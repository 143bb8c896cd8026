package io.roseinfer.backend.cuda;

import io.roseinfer.base.Check;

/**
 * One device's part of a model that several devices share: each has the same share of the heads, of the inner columns and of the
 * vocabulary.
 *
 * @param rank which part, from 0
 * @param of how many parts there are
 */
record Shard(int rank, int of) {
    /** A model that one device has to itself. */
    public static final Shard WHOLE = new Shard(0, 1);

    public Shard {
        Check.index(rank, of, "rank");
    }

    /** How many of {@code count} things this part has; they must divide evenly, as {@link ModelShape#of} sees to. */
    int share(int count) {
        Check.that(count % of == 0, "%d things are not shared out evenly among %d devices", count, of);
        return count / of;
    }
}
