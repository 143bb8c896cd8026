package io.roseinfer.bench.replay;

import io.roseinfer.base.Check;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/**
 * The cost of the attention of decode rows in a step.
 *
 * <p>A GPU divides the positions of a row among few of its processors, so attention ends with the sum of the work or with the longest row,
 * whichever is later. Near each other both count:
 *
 * <pre>
 * (sum^exponent + longest^exponent)^(1 / exponent)
 * sum = perPosition · positions of all decode rows, longest = perLongest · positions of the longest decode row
 * </pre>
 *
 * <p>Both depend on the number of rows: few rows use less of the bandwidth, but each is divided among more processors.
 *
 * @param rows ascending numbers of rows; the entries at {@code i} apply to at most {@code rows.get(i)} rows, the last to more as well
 * @param perPosition nanoseconds per position of all decode rows, at least 0
 * @param perLongest nanoseconds per position of the longest decode row, at least 0
 * @param exponent 1, which adds both, or 4 or 8, which are close to the maximum
 */
record DecodeAttention(List<Integer> rows, List<Double> perPosition, List<Double> perLongest, int exponent) {
    DecodeAttention {
        rows = List.copyOf(rows);
        perPosition = List.copyOf(perPosition);
        perLongest = List.copyOf(perLongest);
        Check.that(
                !rows.isEmpty()
                        && rows.size() == perPosition.size()
                        && rows.size() == perLongest.size()
                        && (exponent == 1 || exponent == 4 || exponent == 8),
                "costs of attention without rows");
        Check.that(
                Stream.concat(perPosition.stream(), perLongest.stream()).allMatch(nanos -> nanos >= 0),
                "work that takes less than no time");
    }

    /** Creates costs that depend neither on the number of rows nor on the longest. */
    static DecodeAttention of(double perPosition) {
        return new DecodeAttention(List.of(1), List.of(perPosition), List.of(0.0), 1);
    }

    double nanos(StepShape shape) {
        int index = index(rows, shape.samples());
        return together(
                perPosition.get(index) * shape.decodeAttended(), perLongest.get(index) * shape.longest(), exponent);
    }

    /** Returns the cost of the sum of the work and the longest row together. */
    static double together(double sum, double longest, int exponent) {
        if (exponent == 1) {
            return sum + longest;
        }
        double larger = Math.max(sum, longest);
        if (larger == 0) {
            return 0;
        }
        double ratio = Math.min(sum, longest) / larger;
        double fourth = ratio * ratio * ratio * ratio;
        double root = Math.sqrt(Math.sqrt(1 + (exponent == 4 ? fourth : fourth * fourth)));
        return larger * (exponent == 4 ? root : Math.sqrt(root));
    }

    /** Returns the index of the entry that applies to a number of rows. */
    static int index(List<Integer> rows, int count) {
        int found = Collections.binarySearch(rows, count);
        return Math.min(found >= 0 ? found : -found - 1, rows.size() - 1);
    }

    DecodeAttention times(double factor) {
        return new DecodeAttention(rows, times(perPosition, factor), times(perLongest, factor), exponent);
    }

    private static List<Double> times(List<Double> values, double factor) {
        return values.stream().map(value -> value * factor).toList();
    }
}
