package io.roseinfer.bench.replay;

/**
 * The number of parts that attention splits a decode row into, and the positions of a part that one row delays a step by. Few rows are
 * split, so that all of a GPU works.
 */
enum RowParts {
    /** {@link #CLUSTERS}, with the positions of the longest row beyond the mean of all decode rows: rows of like length delay no step. */
    BEYOND_MEAN {
        @Override
        double number(int rows) {
            return CLUSTERS.number(rows);
        }

        @Override
        double of(StepShape shape) {
            double mean = (double) shape.decodeAttended() / Math.max(1, shape.tokens() - shape.prefillTokens());
            return Math.max(0, shape.longest() - mean) / number(shape.samples());
        }
    },
    /** The clusters of the attention kernel for 8 KV heads on 132 multiprocessors: 8, 4, 2 or 1. */
    CLUSTERS {
        @Override
        double number(int rows) {
            return rows <= 2 ? 8 : rows <= 4 ? 4 : rows <= 16 ? 2 : 1;
        }
    },
    /** 16 parts in all, for tables fitted with this number. */
    SIXTEENTHS {
        @Override
        double number(int rows) {
            return Math.max(1, 16.0 / rows);
        }
    };

    /** Returns the number of parts of each row in a step of that many decode rows. */
    abstract double number(int rows);

    /** Returns the positions of a part of the longest row. */
    double of(StepShape shape) {
        return shape.longest() / number(shape.samples());
    }
}
