package io.roseinfer.bench.replay;

import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Fits a {@link CostTable} to measured steps. Steps are binned by width: rows, or tokens with eight bins per octave. The costs of rows and
 * positions are fitted by least squares to the deviations from curves through the bins' means, without outliers. The final curve goes
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

    /** The features of a step besides its width: rows, attended positions, unsplit positions of the longest decode row. */
    private static final int FEATURES = 3;

    private static final int ROUNDS = 3;

    /** One step: its width, and its nanoseconds and features. */
    private static final class Row {
        private final int width;
        private final double[] values;

        Row(int width, double... values) {
            this.width = width;
            this.values = values;
        }

        /** Returns the deviations from the centers at this width. */
        double[] deviation(List<Curve> centers) {
            return IntStream.range(0, values.length)
                    .mapToDouble(i -> values[i] - centers.get(i).at(width))
                    .toArray();
        }
    }

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
        return formula(samples, StepShape::rows, StepShape::rows, shape -> 0);
    }

    private static CostTable.Formula others(List<Sample> samples) {
        return formula(samples, StepShape::tokens, shape -> octaves(shape.tokens()), StepShape::rows);
    }

    private static long octaves(int tokens) {
        return Math.round(BINS_PER_OCTAVE * Math.log(tokens) / Math.log(2));
    }

    private static CostTable.Formula formula(
            List<Sample> samples,
            ToIntFunction<StepShape> width,
            ToLongFunction<StepShape> bin,
            ToIntFunction<StepShape> rows) {
        Map<Long, List<Row>> bins = new TreeMap<>();
        for (Sample sample : samples) {
            StepShape shape = sample.shape();
            bins.computeIfAbsent(bin.applyAsLong(shape), key -> new ArrayList<>())
                    .add(new Row(
                            width.applyAsInt(shape),
                            sample.nanos(),
                            rows.applyAsInt(shape),
                            shape.attended(),
                            shape.unsplit()));
        }
        double[] slopes = slopes(bins);
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        List<Double> weights = new ArrayList<>();
        for (List<Row> like : bins.values()) {
            x.add(meanWidth(like));
            y.add(Curve.median(like.stream()
                    .mapToDouble(row -> Math.max(1, remaining(row.values, slopes)))
                    .toArray()));
            weights.add((double) like.size());
        }
        return new CostTable.Formula(Curve.closestTo(x, y, weights), slopes[0], slopes[1], slopes[2]);
    }

    /** Returns the cost of each feature, from steps of like width. */
    private static double[] slopes(Map<Long, List<Row>> bins) {
        List<Row> rows = bins.values().stream().flatMap(List::stream).toList();
        Set<Row> kept = new HashSet<>(rows);
        double[] slopes = new double[FEATURES];
        for (int round = 0; round < ROUNDS; round++) {
            ToDoubleFunction<double[]> center = round == 0 ? Curve::median : CostFit::mean;
            List<Curve> centers = new ArrayList<>();
            for (int value = 0; value <= FEATURES; value++) {
                centers.add(through(bins, kept, value, center));
            }
            List<double[]> deviations =
                    rows.stream().map(row -> row.deviation(centers)).toList();
            boolean[] near = near(deviations, slopes);
            slopes = NonNegativeFit.slopes(IntStream.range(0, rows.size())
                    .filter(i -> near[i])
                    .mapToObj(deviations::get)
                    .toList());
            boolean[] left = near(deviations, slopes);
            kept = IntStream.range(0, rows.size())
                    .filter(i -> left[i])
                    .mapToObj(rows::get)
                    .collect(Collectors.toSet());
        }
        return slopes;
    }

    /** Returns the curve through the centers of a value in the bins, without dropped rows where any is kept. */
    private static Curve through(
            Map<Long, List<Row>> bins, Set<Row> kept, int value, ToDoubleFunction<double[]> center) {
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        for (List<Row> all : bins.values()) {
            List<Row> some = all.stream().filter(kept::contains).toList();
            List<Row> like = some.isEmpty() ? all : some;
            x.add(meanWidth(all));
            y.add(center.applyAsDouble(
                    like.stream().mapToDouble(row -> row.values[value]).toArray()));
        }
        return new Curve(x, y);
    }

    private static double meanWidth(List<Row> rows) {
        return mean(rows.stream().mapToDouble(row -> row.width).toArray());
    }

    private static double mean(double... values) {
        return Arrays.stream(values).average().orElseThrow();
    }

    /** Returns a duration, or its deviation, without the costs of features. */
    private static double remaining(double[] values, double[] slopes) {
        double nanos = values[0];
        for (int i = 0; i < FEATURES; i++) {
            nanos -= slopes[i] * values[i + 1];
        }
        return nanos;
    }

    /** Returns which deviations are no outliers, given slopes. */
    private static boolean[] near(List<double[]> deviations, double[] slopes) {
        double[] remaining = deviations.stream()
                .mapToDouble(each -> Math.abs(remaining(each, slopes)))
                .toArray();
        double far = FAR * Curve.median(remaining);
        boolean[] near = new boolean[remaining.length];
        for (int i = 0; i < near.length; i++) {
            near[i] = remaining[i] <= far;
        }
        return near;
    }
}
