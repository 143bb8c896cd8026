package io.roseinfer.backend.cuda;

import io.roseinfer.base.Check;

/**
 * One device's part of a model under tensor parallelism: equal shares of heads, inner columns and vocabulary.
 *
 * @param rank index of the part, from 0
 * @param of number of parts
 */
record Shard(int rank, int of) {
    /** A whole model on one device. */
    public static final Shard WHOLE = new Shard(0, 1);

    public Shard {
        Check.index(rank, of, "rank");
    }

    /** Returns this part's share of {@code count}, which must divide evenly ({@link ModelShape#of} checks). */
    int share(int count) {
        Check.that(count % of == 0, "%d things are not shared out evenly among %d devices", count, of);
        return count / of;
    }
}
