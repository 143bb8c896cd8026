package io.roseinfer.bench.replay;

import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Fits a {@link CostTable} to measured steps. Steps are binned by width: rows, or tokens with eight bins per octave. The costs of rows and
 * positions minimize the absolute deviations from curves through the bins' centers, by least squares with repeated weights. The final
 * curve goes through the medians of what remains in each bin, with a stair where they jump. The cost of the longest row, and the features that have a
 * cost, are those with the smallest deviations: few noisy steps determine no cost. If there are few steps of prompts alone, mixed steps are fitted
 * with them; few mixed steps are not fitted.
 */
final class CostFit {
    /** Deviations below this share of the median deviation have the same weight, so that no step determines the fit. */
    private static final double NEAR = 0.3;

    private static final int BINS_PER_OCTAVE = 8;

    /** Parts of a bin to which a width is rounded, so that a power of two ends a bin. */
    private static final long ROUNDING = 1000;

    /** Minimum ratio of the medians of adjacent bins for the curve to rise between their steps only: one more wave of tiles, or no graph. */
    private static final double STAIR = 1.2;

    /** Minimum steps of prompts alone, or of mixed steps, to fit them by themselves. */
    private static final int MIN_STEPS = 16;

    /**
     * A feature whose deviations from steps of like width are below this share of it, both as root mean squares, has no cost of its own: its
     * cost is part of the curve.
     */
    private static final double MIN_SPREAD = 0.05;

    /** Maximum factor between measured durations of a kind of steps and their costs, by the median. */
    private static final double MAX_FACTOR = 1.5;

    /** Factor between the total of measured durations and of their costs beyond which {@link #skew} notes it. */
    private static final double MAX_TOTAL_FACTOR = 1.3;

    /** The measured duration of one step. */
    record Sample(StepShape shape, double nanos) {}

    /** Features of a step besides its width: rows, positions attended by decode rows, the longest row included, and by prompts. */
    private static final int FEATURES = 3;

    private static final int ALL_FEATURES = (1 << FEATURES) - 1;

    private static final int DECODE_ATTENDED = 2;

    private static final int ROUNDS = 12;

    private static final RowParts PARTS = RowParts.DESCENDING;

    /** Candidates for the cost per position of the longest row's part, relative to the cost per position of all rows. */
    private static final double[] LONGEST = {0, 1, 2, 4, 8, 16, 32, 64};

    private static final Comparator<Slopes> BY_DEVIATION = Comparator.comparingDouble(Slopes::deviation);

    /** Halvings of the distance to the best ratio's neighbors. */
    private static final int HALVINGS = 4;

    /** One step: its shape and width, its nanoseconds and features, and its weight in the fit. */
    private static final class Row {
        private final StepShape shape;
        private final int width;
        private final double[] values;
        private double weight = 1;

        Row(StepShape shape, int width, double... values) {
            this.shape = shape;
            this.width = width;
            this.values = values;
        }

        /** Sets the cost of the longest row's part per position, relative to the cost of all positions, and the weight to 1. */
        private void setLongest(double longest) {
            values[DECODE_ATTENDED] = PARTS.nanos(shape, 1, longest);
            weight = 1;
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
     * @throws BadInput if no step decodes, none has a prompt, or the costs of a kind of steps are not those measured
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
        boolean fitsMixed = mixed.size() >= MIN_STEPS;
        List<Sample> others = prompts.size() >= MIN_STEPS
                ? prompts
                : Stream.concat(prompts.stream(), mixed.stream()).toList();
        CostTable table = new CostTable(
                decode(decode),
                others(others),
                fitsMixed ? Optional.of(others(mixed)) : Optional.empty(),
                StepRange.of(samples.stream().map(Sample::shape).toList()));
        requireLikeMeasured(table, "decode", decode);
        requireLikeMeasured(table, "prompt", prompts.size() >= MIN_STEPS ? prompts : List.of());
        requireLikeMeasured(table, "mixed", fitsMixed ? mixed : List.of());
        return table;
    }

    private static void requireLikeMeasured(CostTable table, String kind, List<Sample> samples) {
        double[] ratios = samples.stream()
                .mapToDouble(sample -> table.nanos(sample.shape()) / sample.nanos())
                .toArray();
        double ratio = ratios.length == 0 ? 1 : Curve.median(ratios);
        if (ratio > MAX_FACTOR || ratio < 1 / MAX_FACTOR) {
            throw new BadInput(String.format(
                    Locale.ROOT,
                    "the step costs fitted to the run are %.2f times the measured durations of %s steps; record a run of more requests,"
                            + " with more lengths",
                    ratio,
                    kind));
        }
    }

    /** Returns a note if the steps took much longer in total than by their fitted costs, which are medians. */
    static Optional<String> skew(CostModel costs, List<Sample> samples) {
        double measured = samples.stream().mapToDouble(Sample::nanos).sum();
        double fitted = samples.stream()
                .mapToDouble(sample -> costs.nanos(sample.shape()))
                .sum();
        return measured <= MAX_TOTAL_FACTOR * fitted
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "medians of steps that took %.2f times as long in total (only --step-noise recorded and resampled keep that)",
                        measured / fitted));
    }

    private static CostTable.Formula decode(List<Sample> samples) {
        return formula(samples, StepShape::rows, StepShape::rows, shape -> 0);
    }

    private static CostTable.Formula others(List<Sample> samples) {
        return formula(samples, StepShape::tokens, shape -> octaves(shape.tokens()), StepShape::rows);
    }

    private static long octaves(int tokens) {
        return Math.ceilDiv(Math.round(ROUNDING * BINS_PER_OCTAVE * Math.log(tokens) / Math.log(2)), ROUNDING);
    }

    /**
     * The costs of features.
     *
     * @param longest the cost of the longest row's part per position, relative to the cost of all positions
     * @param deviation the mean deviation of the steps from these costs
     */
    private record Slopes(double longest, double[] perFeature, double deviation) {}

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
                            shape,
                            width.applyAsInt(shape),
                            sample.nanos(),
                            rows.applyAsInt(shape),
                            shape.decodeAttended(),
                            shape.attended() - shape.decodeAttended()));
        }
        Slopes fitted = best(bins);
        return IntStream.rangeClosed(0, ALL_FEATURES)
                .mapToObj(features ->
                        formula(bins, features == ALL_FEATURES ? fitted : slopes(bins, fitted.longest(), features)))
                .min(Comparator.comparingDouble(formula -> samples.stream()
                        .mapToDouble(sample -> Math.abs(
                                sample.nanos() - formula.nanos(width.applyAsInt(sample.shape()), sample.shape())))
                        .sum()))
                .orElseThrow();
    }

    /** Returns the costs of features with the curve of what remains. */
    private static CostTable.Formula formula(Map<Long, List<Row>> bins, Slopes fitted) {
        double[] slopes = fitted.perFeature();
        bins.values().forEach(like -> like.forEach(row -> row.setLongest(fitted.longest())));
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        List<Double> weights = new ArrayList<>();
        List<Row> before = List.of();
        for (List<Row> like : bins.values()) {
            double median = Curve.median(like.stream()
                    .mapToDouble(row -> Math.max(1, remaining(row.values, slopes)))
                    .toArray());
            if (!before.isEmpty() && median > STAIR * y.getLast()) {
                addAfter(x, y, weights, maxWidth(before), y.getLast());
                addAfter(x, y, weights, minWidth(like), median);
            }
            addAfter(x, y, weights, meanWidth(like), median);
            weights.set(weights.size() - 1, (double) like.size());
            before = like;
        }
        return new CostTable.Formula(
                Curve.closestTo(x, y, weights), slopes[0], slopes[1], slopes[2], fitted.longest() * slopes[1], PARTS);
    }

    /** Adds a point of weight 1, unless the last point has its x. */
    private static void addAfter(List<Double> x, List<Double> y, List<Double> weights, double nextX, double nextY) {
        if (x.isEmpty() || nextX > x.getLast()) {
            x.add(nextX);
            y.add(nextY);
            weights.add(1.0);
        }
    }

    private static double minWidth(List<Row> rows) {
        return rows.stream().mapToInt(row -> row.width).min().orElseThrow();
    }

    private static double maxWidth(List<Row> rows) {
        return rows.stream().mapToInt(row -> row.width).max().orElseThrow();
    }

    /** Returns the costs with the smallest deviation, over the costs of the longest row. */
    private static Slopes best(Map<Long, List<Row>> bins) {
        boolean anyDecodes = bins.values().stream().flatMap(List::stream).anyMatch(row -> row.shape.longest() > 0);
        List<Slopes> tried = new ArrayList<>();
        for (double longest : anyDecodes ? LONGEST : new double[1]) {
            tried.add(slopes(bins, longest, ALL_FEATURES));
        }
        for (int i = 0; i < HALVINGS && tried.size() > 1; i++) {
            int best = tried.indexOf(Collections.min(tried, BY_DEVIATION));
            int above = Math.min(best + 1, tried.size() - 1);
            int below = Math.max(best - 1, 0);
            if (above > best) {
                tried.add(
                        above,
                        slopes(
                                bins,
                                (tried.get(best).longest() + tried.get(above).longest()) / 2,
                                ALL_FEATURES));
            }
            if (below < best) {
                tried.add(
                        best,
                        slopes(
                                bins,
                                (tried.get(below).longest() + tried.get(best).longest()) / 2,
                                ALL_FEATURES));
            }
        }
        return Collections.min(tried, BY_DEVIATION);
    }

    /**
     * Returns the cost of each feature, from steps of like width.
     *
     * @param features a bit for each feature that may have a cost
     */
    private static Slopes slopes(Map<Long, List<Row>> bins, double longest, int features) {
        List<Row> rows = bins.values().stream().flatMap(List::stream).toList();
        rows.forEach(row -> row.setLongest(longest));
        double[] slopes = new double[FEATURES];
        double deviation = 0;
        boolean[] varies = varying(bins, features);
        for (int round = 0; round < ROUNDS; round++) {
            List<Curve> centers = IntStream.rangeClosed(0, FEATURES)
                    .mapToObj(value -> through(bins, value))
                    .toList();
            List<double[]> deviations =
                    rows.stream().map(row -> row.deviation(centers)).toList();
            slopes = NonNegativeFit.slopes(IntStream.range(0, rows.size())
                    .mapToObj(i -> times(deviations.get(i), varies, Math.sqrt(rows.get(i).weight)))
                    .toList());
            deviation = weigh(rows, deviations, slopes);
        }
        return new Slopes(longest, slopes, deviation);
    }

    /** Sets the weights with which least squares minimize absolute deviations, and returns the mean of these. */
    private static double weigh(List<Row> rows, List<double[]> deviations, double[] slopes) {
        double[] remaining = deviations.stream()
                .mapToDouble(each -> Math.abs(remaining(each, slopes)))
                .toArray();
        double near = Math.max(1, NEAR * Curve.median(remaining));
        for (int i = 0; i < remaining.length; i++) {
            rows.get(i).weight = 1 / Math.max(remaining[i], near);
        }
        return Arrays.stream(remaining).average().orElseThrow();
    }

    /** Returns which values, the duration and those features, vary among steps of like width. */
    private static boolean[] varying(Map<Long, List<Row>> bins, int features) {
        boolean[] varies = new boolean[FEATURES + 1];
        for (int i = 0; i <= FEATURES; i++) {
            double square = 0;
            double squareOfDeviation = 0;
            for (List<Row> like : bins.values()) {
                int value = i;
                double mean = like.stream()
                        .mapToDouble(row -> row.values[value])
                        .average()
                        .orElseThrow();
                for (Row row : like) {
                    square += row.values[i] * row.values[i];
                    squareOfDeviation += (row.values[i] - mean) * (row.values[i] - mean);
                }
            }
            varies[i] =
                    i == 0 || ((features >> (i - 1) & 1) == 1 && squareOfDeviation > MIN_SPREAD * MIN_SPREAD * square);
        }
        return varies;
    }

    /** Returns values times a factor, with 0 for those that do not vary. */
    private static double[] times(double[] values, boolean[] varies, double factor) {
        return IntStream.range(0, values.length)
                .mapToDouble(i -> varies[i] ? values[i] * factor : 0)
                .toArray();
    }

    /** Returns the curve through the weighted means of a value in the bins. */
    private static Curve through(Map<Long, List<Row>> bins, int value) {
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        for (List<Row> like : bins.values()) {
            double weight = like.stream().mapToDouble(row -> row.weight).sum();
            x.add(like.stream().mapToDouble(row -> row.weight * row.width).sum() / weight);
            y.add(like.stream()
                            .mapToDouble(row -> row.weight * row.values[value])
                            .sum()
                    / weight);
        }
        return new Curve(x, y);
    }

    private static double meanWidth(List<Row> rows) {
        return rows.stream().mapToDouble(row -> row.width).average().orElseThrow();
    }

    /** Returns a duration, or its deviation, without the costs of features. */
    private static double remaining(double[] values, double[] slopes) {
        double nanos = values[0];
        for (int i = 0; i < FEATURES; i++) {
            nanos -= slopes[i] * values[i + 1];
        }
        return nanos;
    }
}
