package io.roseinfer.bench.replay;

/**
 * The cost of the positions that decode rows attend to, by the parts that attention splits a row into and the order of rows. Few rows are
 * split, so that all of a GPU works.
 */
enum RowParts {
    /**
     * Rows begin in order of descending length, so attention ends with the sum of its work or with the longest row, whichever is later. Near
     * each other both count: the cost is the cube root of the sum of their cubes.
     */
    DESCENDING {
        @Override
        double number(int rows) {
            return rows <= 2 ? 8 : rows <= 4 ? 4 : rows <= 16 ? 2 : rows <= 24 ? 1.5 : 1;
        }

        @Override
        double nanos(StepShape shape, double perAttended, double perLongest) {
            double sum = perAttended * shape.decodeAttended();
            double longest = perLongest * part(shape);
            return Math.cbrt(sum * sum * sum + longest * longest * longest);
        }
    },
    /** {@link #CLUSTERS}, with the positions of the longest row beyond the mean of all decode rows: rows of like length delay no step. */
    BEYOND_MEAN {
        @Override
        double number(int rows) {
            return CLUSTERS.number(rows);
        }

        @Override
        double part(StepShape shape) {
            double mean = (double) shape.decodeAttended() / Math.max(1, shape.tokens() - shape.prefillTokens());
            return Math.max(0, shape.longest() - mean) / number(shape.samples());
        }
    },
    /** 8, 4, 2 or 1, for tables fitted with these numbers. */
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
    double part(StepShape shape) {
        return shape.longest() / number(shape.samples());
    }

    /**
     * Returns the cost of the positions that decode rows attend to.
     *
     * @param perAttended cost per position, over all rows
     * @param perLongest cost per position of a part of the longest row
     */
    double nanos(StepShape shape, double perAttended, double perLongest) {
        return perAttended * shape.decodeAttended() + perLongest * part(shape);
    }
}
