package io.roseinfer.bench.replay;

import io.roseinfer.base.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A piecewise linear function. It is constant before the first point; after the last, its slope is that of the line from the first point
 * to the last.
 *
 * @param x ascending coordinates, at least one
 * @param y values, as many as x
 */
record Curve(List<Double> x, List<Double> y) {
    Curve {
        x = List.copyOf(x);
        y = List.copyOf(y);
        Check.that(!x.isEmpty() && x.size() == y.size(), "a curve without points");
    }

    /** Creates a line that starts at 0. */
    static Curve line(double atZero, double slope) {
        return new Curve(List.of(0.0, 1.0), List.of(atZero, atZero + slope));
    }

    /**
     * Returns the weighted isotonic regression of points: adjacent violators are pooled (Ayer et al., 1955).
     *
     * @param x ascending coordinates
     * @param weights positive weights
     */
    static Curve closestTo(List<Double> x, List<Double> y, List<Double> weights) {
        double[] level = new double[x.size()];
        double[] weight = new double[x.size()];
        int[] members = new int[x.size()];
        int blocks = 0;
        for (int i = 0; i < x.size(); i++) {
            level[blocks] = y.get(i);
            weight[blocks] = weights.get(i);
            members[blocks] = 1;
            blocks++;
            while (blocks > 1 && level[blocks - 2] > level[blocks - 1]) {
                double sum = weight[blocks - 2] + weight[blocks - 1];
                level[blocks - 2] =
                        (level[blocks - 2] * weight[blocks - 2] + level[blocks - 1] * weight[blocks - 1]) / sum;
                weight[blocks - 2] = sum;
                members[blocks - 2] += members[blocks - 1];
                blocks--;
            }
        }
        List<Double> levels = new ArrayList<>();
        for (int block = 0; block < blocks; block++) {
            levels.addAll(Collections.nCopies(members[block], level[block]));
        }
        return new Curve(x, levels);
    }

    /** Returns the value at a coordinate. */
    double at(double place) {
        int last = x.size() - 1;
        if (place <= x.getFirst()) {
            return y.getFirst();
        }
        if (place >= x.getLast()) {
            double slope = last == 0 ? 0 : (y.getLast() - y.getFirst()) / (x.getLast() - x.getFirst());
            return y.getLast() + slope * (place - x.getLast());
        }
        int found = Collections.binarySearch(x, place);
        if (found >= 0) {
            return y.get(found);
        }
        int above = -found - 1;
        double share = (place - x.get(above - 1)) / (x.get(above) - x.get(above - 1));
        return y.get(above - 1) + share * (y.get(above) - y.get(above - 1));
    }

    /** Returns the curve multiplied by a factor. */
    Curve times(double factor) {
        return new Curve(x, y.stream().map(value -> value * factor).toList());
    }

    /** Returns the median of at least one value. */
    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
