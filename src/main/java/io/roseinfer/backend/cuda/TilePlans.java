package io.roseinfer.backend.cuda;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The tile plans of a model: the lines of {@link TileTable} for layers of its size.
 *
 * @param fastest by rows of one token each, or the tokens of prompts; ascending, from 1 on, without a gap
 * @param invariant likewise; every line sums in the same order
 */
record TilePlans(List<Line> fastest, List<Line> invariant) {
    /** A line of the table. */
    record Line(int firstRow, int lastRow, TilePlan plan) {}

    public TilePlans {
        fastest = List.copyOf(fastest);
        invariant = List.copyOf(invariant);
    }

    /** The fastest plan for so many rows of one token, or so many tokens of prompts. */
    TilePlan fastest(int rows) {
        return find(fastest, rows);
    }

    /** The plan for so many rows that gives a row the same bits whatever their number. */
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

    /** The last rows of each line of either plan, but for those without an end. */
    public IntStream rangeEnds() {
        return Stream.of(fastest, invariant)
                .flatMap(List::stream)
                .mapToInt(Line::lastRow)
                .filter(last -> last != Integer.MAX_VALUE)
                .distinct()
                .sorted();
    }
}
