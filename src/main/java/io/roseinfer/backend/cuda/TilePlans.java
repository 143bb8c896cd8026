package io.roseinfer.backend.cuda;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The tile plans of a model: the lines of {@link TileTable} for its layer size.
 *
 * @param fastest by decode rows or prompt tokens; ascending from 1 without gaps
 * @param invariant also by rows; all lines share one order of additions
 */
record TilePlans(List<Line> fastest, List<Line> invariant) {
    /** A line of the table. */
    record Line(int firstRow, int lastRow, TilePlan plan) {}

    public TilePlans {
        fastest = List.copyOf(fastest);
        invariant = List.copyOf(invariant);
    }

    /** Returns the fastest plan for {@code rows} decode rows or prompt tokens. */
    TilePlan fastest(int rows) {
        return find(fastest, rows);
    }

    /** Returns the batch-invariant plan for {@code rows}. */
    TilePlan invariant(int rows) {
        return find(invariant, rows);
    }

    private static TilePlan find(List<Line> lines, int rows) {
        for (Line line : lines) {
            if (rows <= line.lastRow()) {
                return line.plan();
            }
        }
        throw new AssertionError("the last line has no end");
    }

    /** Returns the last row of every bounded line. */
    public IntStream rangeEnds() {
        return Stream.of(fastest, invariant)
                .flatMap(List::stream)
                .mapToInt(Line::lastRow)
                .filter(last -> last != Integer.MAX_VALUE)
                .distinct()
                .sorted();
    }
}
