package io.roseinfer.bench.replay;

import java.util.List;

/** Least squares with slopes of at least 0 and without a constant, by trying every subset of features. */
final class NonNegativeFit {
    /** Pivots below this share of a feature's sum of squares mean that features are collinear. */
    private static final double COLLINEAR = 1e-9;

    private NonNegativeFit() {}

    /**
     * Returns the slopes of the best fit.
     *
     * @param rows the value to fit, then the features; at least one row
     */
    static double[] slopes(List<double[]> rows) {
        int features = rows.getFirst().length - 1;
        double[][] products = new double[features + 1][features + 1];
        for (double[] row : rows) {
            for (int i = 0; i <= features; i++) {
                for (int j = 0; j <= features; j++) {
                    products[i][j] += row[i] * row[j];
                }
            }
        }
        double[] best = new double[features];
        double most = 0;
        for (int subset = 1; subset < 1 << features; subset++) {
            double[] slopes = solve(products, subset);
            double explained = 0;
            boolean valid = true;
            for (int i = 0; i < features; i++) {
                explained += slopes[i] * products[0][i + 1];
                valid &= slopes[i] >= 0;
            }
            if (valid && explained > most) {
                most = explained;
                best = slopes;
            }
        }
        return best;
    }

    /** Solves the normal equations of a subset of features by elimination; 0 for the others, and all 0 if collinear. */
    private static double[] solve(double[][] products, int subset) {
        int features = products.length - 1;
        double[][] system = new double[features][features + 1];
        for (int i = 0; i < features; i++) {
            boolean used = (subset >> i & 1) > 0;
            for (int j = 0; j < features; j++) {
                boolean both = used && (subset >> j & 1) > 0;
                system[i][j] = both ? products[i + 1][j + 1] : i == j ? 1 : 0;
            }
            system[i][features] = used ? products[i + 1][0] : 0;
        }
        for (int pivot = 0; pivot < features; pivot++) {
            boolean used = (subset >> pivot & 1) > 0;
            if (used && system[pivot][pivot] <= COLLINEAR * products[pivot + 1][pivot + 1]) {
                return new double[features];
            }
            for (int row = 0; row < features; row++) {
                double factor = row == pivot ? 0 : system[row][pivot] / system[pivot][pivot];
                for (int column = pivot; column <= features; column++) {
                    system[row][column] -= factor * system[pivot][column];
                }
            }
        }
        double[] slopes = new double[features];
        for (int i = 0; i < features; i++) {
            slopes[i] = system[i][features] / system[i][i];
        }
        return slopes;
    }
}
