package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class NonNegativeFitTest {
    private static final Offset<Double> EXACT = within(1e-6);

    /** Returns rows of random features with a value of the given slopes. */
    private static List<double[]> rows(double... slopes) {
        Random random = new Random(3);
        List<double[]> rows = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            double[] row = new double[slopes.length + 1];
            for (int j = 0; j < slopes.length; j++) {
                row[j + 1] = random.nextGaussian();
                row[0] += slopes[j] * row[j + 1];
            }
            rows.add(row);
        }
        return rows;
    }

    @Test
    void slopes_are_recovered() {
        assertThat(NonNegativeFit.slopes(rows(2, 0.5, 7))).containsExactly(new double[] {2, 0.5, 7}, EXACT);
    }

    @Test
    void negative_slope_becomes_zero_and_others_remain() {
        double[] slopes = NonNegativeFit.slopes(rows(2, -0.5, 7));
        assertThat(slopes[1]).isZero();
        assertThat(slopes[0]).isCloseTo(2, within(0.3));
        assertThat(slopes[2]).isCloseTo(7, within(0.3));
    }

    @Test
    void equal_features_are_not_both_used() {
        List<double[]> rows = rows(3, 0);
        rows.forEach(row -> row[2] = row[1]);
        double[] slopes = NonNegativeFit.slopes(rows);
        assertThat(slopes[0] + slopes[1]).isCloseTo(3, EXACT);
    }

    @Test
    void feature_that_is_always_zero_has_no_slope() {
        List<double[]> rows = rows(3, 1);
        rows.forEach(row -> {
            row[0] -= row[2];
            row[2] = 0;
        });
        assertThat(NonNegativeFit.slopes(rows)).containsExactly(new double[] {3, 0}, EXACT);
    }
}
