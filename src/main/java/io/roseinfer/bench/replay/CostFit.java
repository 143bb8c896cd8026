package io.roseinfer.bench.replay;

import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Fits a {@link CostTable} to measured steps. Steps are binned by width: rows, or tokens with eight bins per octave. The costs of rows and
 * positions are fitted by least squares to the deviations from the curve through the bins' medians, without outliers. The final curve goes
 * through the medians of what remains in each bin. Steps of prompts alone and mixed steps share a fit if there are few of either.
 */
final class CostFit {
    /** Steps beyond this many median deviations are outliers. */
    private static final double FAR = 5;

    private static final int BINS_PER_OCTAVE = 8;

    /** Minimum steps of prompts alone, and of mixed steps, to fit them apart. */
    private static final int MIN_STEPS = 16;

    /** The measured duration of one step. */
    record Sample(StepShape shape, double nanos) {}

    private CostFit() {}

    /**
     * Fits a table.
     *
     * @throws BadInput if no step decodes, or none has a prompt
     */
    static CostTable fit(List<Sample> samples) {
        List<Sample> mixed =
                samples.stream().filter(sample -> sample.shape().isMixed()).toList();
        List<Sample> prompts = samples.stream()
                .filter(sample -> !sample.shape().isDecode() && !sample.shape().isMixed())
                .toList();
        List<Sample> decode =
                samples.stream().filter(sample -> sample.shape().isDecode()).toList();
        if (decode.isEmpty() || decode.size() == samples.size()) {
            throw new BadInput("the run has no step that " + (decode.isEmpty() ? "only decodes" : "computes a prompt")
                    + ", so its cost cannot be estimated; record a run of more requests");
        }
        boolean apart = prompts.size() >= MIN_STEPS && mixed.size() >= MIN_STEPS;
        List<Sample> others = Stream.concat(prompts.stream(), mixed.stream()).toList();
        return new CostTable(
                decode(decode),
                others(apart ? prompts : others),
                others(apart ? mixed : others),
                StepRange.of(samples.stream().map(Sample::shape).toList()));
    }

    private static CostTable.Formula decode(List<Sample> samples) {
        return formula(
                samples,
                sample -> sample.shape().rows(),
                StepShape::rows,
                sample -> 0,
                sample -> sample.shape().attended());
    }

    private static CostTable.Formula others(List<Sample> samples) {
        return formula(
                samples,
                sample -> sample.shape().tokens(),
                shape -> octaves(shape.tokens()),
                sample -> sample.shape().rows(),
                sample -> sample.shape().attended());
    }

    private static long octaves(int tokens) {
        return Math.round(BINS_PER_OCTAVE * Math.log(tokens) / Math.log(2));
    }

    private static CostTable.Formula formula(
            List<Sample> samples,
            ToDoubleFunction<Sample> width,
            ToLongFunction<StepShape> bin,
            ToDoubleFunction<Sample> first,
            ToDoubleFunction<Sample> second) {
        Map<Long, List<Sample>> bins = new TreeMap<>();
        samples.forEach(sample -> bins.computeIfAbsent(bin.applyAsLong(sample.shape()), key -> new ArrayList<>())
                .add(sample));
        List<Double> x = new ArrayList<>();
        List<Double> weights = new ArrayList<>();
        for (List<Sample> like : bins.values()) {
            x.add(like.stream().mapToDouble(width).average().orElseThrow());
            weights.add((double) like.size());
        }
        Curve nanos = through(x, bins, Sample::nanos);
        Curve usualFirst = through(x, bins, first);
        Curve usualSecond = through(x, bins, second);
        List<double[]> deviations = samples.stream()
                .map(sample -> {
                    double at = width.applyAsDouble(sample);
                    return new double[] {
                        sample.nanos() - nanos.at(at),
                        first.applyAsDouble(sample) - usualFirst.at(at),
                        second.applyAsDouble(sample) - usualSecond.at(at)
                    };
                })
                .toList();
        double[] slopes = leastSquares(near(deviations, leastSquares(near(deviations, new double[2]))));
        Curve rest = through(
                x,
                bins,
                sample -> Math.max(
                        1,
                        sample.nanos()
                                - slopes[0] * first.applyAsDouble(sample)
                                - slopes[1] * second.applyAsDouble(sample)));
        return new CostTable.Formula(Curve.closestTo(x, rest.y(), weights), slopes[0], slopes[1]);
    }

    /** Returns the curve through the medians of the bins. */
    private static Curve through(List<Double> x, Map<Long, List<Sample>> bins, ToDoubleFunction<Sample> value) {
        List<Double> medians = bins.values().stream()
                .map(like -> Curve.median(like.stream().mapToDouble(value).toArray()))
                .toList();
        return new Curve(x, medians);
    }

    /** Returns the deviations without outliers, given slopes. */
    private static List<double[]> near(List<double[]> deviations, double[] slopes) {
        double[] left = deviations.stream()
                .mapToDouble(row -> Math.abs(row[0] - slopes[0] * row[1] - slopes[1] * row[2]))
                .toArray();
        double most = FAR * Curve.median(left);
        List<double[]> near = new ArrayList<>();
        for (int i = 0; i < left.length; i++) {
            if (left[i] <= most) {
                near.add(deviations.get(i));
            }
        }
        return near;
    }

    /** Returns the two slopes, both at least 0. */
    private static double[] leastSquares(List<double[]> rows) {
        double aa = sum(rows, 1, 1);
        double bb = sum(rows, 2, 2);
        double ab = sum(rows, 1, 2);
        double ya = sum(rows, 0, 1);
        double yb = sum(rows, 0, 2);
        double determinant = aa * bb - ab * ab;
        if (determinant > 1e-9 * aa * bb) {
            double[] both = {(ya * bb - yb * ab) / determinant, (yb * aa - ya * ab) / determinant};
            if (Arrays.stream(both).allMatch(slope -> slope >= 0)) {
                return both;
            }
        }
        double alone = aa > 0 ? Math.max(0, ya / aa) : 0;
        double other = bb > 0 ? Math.max(0, yb / bb) : 0;
        return alone * ya > other * yb ? new double[] {alone, 0} : new double[] {0, other};
    }

    private static double sum(List<double[]> rows, int one, int other) {
        return rows.stream().mapToDouble(row -> row[one] * row[other]).sum();
    }
}
