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
import java.util.function.DoubleFunction;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Fits a {@link CostTable} to measured steps. Steps are binned by width: rows, or tokens with eight bins per octave. The costs of rows and
 * positions minimize the absolute deviations from curves through the bins' centers, by least squares with repeated weights. The final
 * curve goes through the medians of what remains in each bin, with a stair where they jump.
 *
 * <p>Steps that only decode determine the {@link DecodeAttention}: first one ratio of its costs for all steps, then both costs of each of
 * {@link #BANDS}. Their curve falls from one band to the next if that is clearly better. Candidates with the smallest deviations win, as
 * does the choice of features that have a cost, so few noisy steps determine no cost. If there are few steps of prompts alone, mixed steps
 * are fitted with them; few mixed steps are not fitted.
 *
 * <p>A host that launches a step with prompts notices late that the decode step before has ended. Such decode steps do not determine the
 * fit, and the durations of the steps after them count from the end that the fit gives.
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

    /**
     * The measured duration of one step.
     *
     * @param late whether its end may have been noticed late: it only decodes, and the host launched the step of the next sample, which
     *     computes prompts, meanwhile
     */
    record Sample(StepShape shape, double nanos, boolean late) {
        Sample(StepShape shape, double nanos) {
            this(shape, nanos, false);
        }
    }

    /** The only feature of steps that only decode. */
    private static final int ATTENTION = 0;

    private static final int ROUNDS = 12;

    /** {@link DecodeAttention#exponent}. With 2, 3 or 4, costs of recordings on a GPU deviated more. */
    private static final int EXPONENT = 8;

    /** {@link DecodeAttention#rows}: devices split the rows of a step by their number. */
    private static final List<Integer> BANDS = List.of(1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256);

    /** Candidates for the cost per position of the longest row, relative to the cost per position of all rows, 16 per octave. */
    private static final double[] LONGEST =
            DoubleStream.concat(DoubleStream.of(0), powersOf2(-16, 96)).toArray();

    /** Step between the candidates that all steps share. */
    private static final int COARSE = 16;

    /** Candidates for the cost per position of all rows in a band, relative to the one that all bands share. */
    private static final double[] POSITION = powersOf2(-16, 16).toArray();

    /** Minimum steps of a band for a cost of its own, and maximum ratio of their deviation with it to that without it. */
    private static final int MIN_BAND = 50;

    private static final double MAX_RATIO = 0.98;

    private static final int REFINEMENTS = 4;

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

        /** Returns the cost of the attention of decode rows, relative to the cost per position. */
        private double attention(double position, double longest) {
            return DecodeAttention.together(position * shape.decodeAttended(), longest * shape.longest(), EXPONENT);
        }

        private int band() {
            return DecodeAttention.index(BANDS, shape.samples());
        }

        private void setAttention(ByBand costs) {
            int band = band();
            values[1 + ATTENTION] =
                    attention(costs.position().get(band), costs.longest().get(band));
        }

        /** Returns the deviations from the centers at this width. */
        double[] deviation(List<Curve> centers) {
            return IntStream.range(0, values.length)
                    .mapToDouble(i -> values[i] - centers.get(i).at(width))
                    .toArray();
        }
    }

    /** Costs per position of all rows and of the longest row by band, relative to the cost per position of all rows in all bands. */
    private record ByBand(List<Double> position, List<Double> longest) {
        static ByBand all(double longest) {
            return new ByBand(Collections.nCopies(BANDS.size(), 1.0), Collections.nCopies(BANDS.size(), longest));
        }
    }

    private CostFit() {}

    private static DoubleStream powersOf2(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToDouble(i -> Math.pow(2, i / 16.0));
    }

    /**
     * Fits a table.
     *
     * @throws BadInput if no step decodes, none has a prompt, or the costs of a kind of steps are not those measured
     */
    static CostTable fit(List<Sample> samples) {
        List<Sample> decode =
                samples.stream().filter(sample -> sample.shape().isDecode()).toList();
        if (decode.isEmpty() || decode.size() == samples.size()) {
            throw new BadInput("the run has no step that " + (decode.isEmpty() ? "only decodes" : "computes a prompt")
                    + ", so its cost cannot be estimated; record a run of more requests");
        }
        List<Sample> onTime = decode.stream().filter(sample -> !sample.late()).toList();
        CostTable.Formula decodes = decode(onTime.size() >= MIN_STEPS ? onTime : decode);
        List<Sample> withPrompts = withPrompts(samples, decodes);
        List<Sample> mixed =
                withPrompts.stream().filter(sample -> sample.shape().isMixed()).toList();
        List<Sample> prompts =
                withPrompts.stream().filter(sample -> !sample.shape().isMixed()).toList();
        boolean fitsMixed = mixed.size() >= MIN_STEPS;
        List<Sample> others = prompts.size() >= MIN_STEPS
                ? prompts
                : Stream.concat(prompts.stream(), mixed.stream()).toList();
        CostTable table = new CostTable(
                decodes,
                others(others, decodes.attention()),
                fitsMixed ? Optional.of(others(mixed, decodes.attention())) : Optional.empty(),
                StepRange.of(samples.stream().map(Sample::shape).toList()));
        requireLikeMeasured(table, "decode", decode);
        requireLikeMeasured(table, "prompt", prompts.size() >= MIN_STEPS ? prompts : List.of());
        requireLikeMeasured(table, "mixed", fitsMixed ? mixed : List.of());
        return table;
    }

    /** Returns the steps with prompts; durations after a late end count from the end that the costs of decode steps give. */
    private static List<Sample> withPrompts(List<Sample> samples, CostTable.Formula decodes) {
        List<Sample> withPrompts = new ArrayList<>();
        double late = 0;
        for (Sample sample : samples) {
            StepShape shape = sample.shape();
            if (!shape.isDecode()) {
                withPrompts.add(new Sample(shape, Math.max(1, sample.nanos() + late)));
            }
            late = sample.late() ? sample.nanos() - decodes.nanos(shape.tokens(), shape) : 0;
        }
        return withPrompts;
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

    /** Fits the curve and the attention of steps that only decode. */
    private static CostTable.Formula decode(List<Sample> samples) {
        Map<Long, List<Row>> bins = new TreeMap<>();
        for (Sample sample : samples) {
            StepShape shape = sample.shape();
            bins.computeIfAbsent((long) shape.rows(), key -> new ArrayList<>())
                    .add(new Row(shape, shape.rows(), sample.nanos(), shape.decodeAttended()));
        }
        Fitted fitted = best(bins);
        ByBand costs = fitted.attention();
        bins.values().forEach(like -> like.forEach(row -> row.setAttention(costs)));
        CostTable.Formula rising = decode(samples, fitted, slope -> curve(bins, slope));
        CostTable.Formula byBand = decode(samples, fitted, slope -> curveByBand(bins, slope));
        return deviation(samples, byBand) <= MAX_RATIO * deviation(samples, rising) ? byBand : rising;
    }

    /** Fits steps that only decode, with the cost of attention or without. */
    private static CostTable.Formula decode(List<Sample> samples, Fitted fitted, DoubleFunction<Curve> curve) {
        ByBand costs = fitted.attention();
        return closest(
                samples,
                Stream.of(0.0, fitted.slope())
                        .map(slope -> new CostTable.Formula(
                                curve.apply(slope),
                                0,
                                0,
                                0,
                                new DecodeAttention(BANDS, costs.position(), costs.longest(), EXPONENT).times(slope))));
    }

    /** Fits the curve and the features of steps with prompts, whose decode rows have known attention. */
    private static CostTable.Formula others(List<Sample> samples, DecodeAttention attention) {
        Map<Long, List<Row>> bins = new TreeMap<>();
        for (Sample sample : samples) {
            StepShape shape = sample.shape();
            bins.computeIfAbsent(octaves(shape.tokens()), key -> new ArrayList<>())
                    .add(new Row(
                            shape,
                            shape.tokens(),
                            Math.max(1, sample.nanos() - attention.nanos(shape)),
                            shape.rows(),
                            shape.attended() - shape.decodeAttended(),
                            shape.past()));
        }
        return closest(
                samples,
                IntStream.range(0, 1 << 3)
                        .mapToObj(features -> slopes(bins, features).perFeature())
                        .map(slopes -> new CostTable.Formula(
                                curve(bins, slopes), slopes[0], slopes[1], slopes[2], attention)));
    }

    /** Returns the formula with the smallest deviation from the samples. */
    private static CostTable.Formula closest(List<Sample> samples, Stream<CostTable.Formula> formulas) {
        return formulas.min(Comparator.comparingDouble(formula -> deviation(samples, formula)))
                .orElseThrow();
    }

    private static double deviation(List<Sample> samples, CostTable.Formula formula) {
        return samples.stream()
                .mapToDouble(sample ->
                        Math.abs(sample.nanos() - formula.nanos(sample.shape().tokens(), sample.shape())))
                .sum();
    }

    private static long octaves(int tokens) {
        return Math.ceilDiv(Math.round(ROUNDING * BINS_PER_OCTAVE * Math.log(tokens) / Math.log(2)), ROUNDING);
    }

    /**
     * The costs of features.
     *
     * @param deviation the mean deviation of the steps from these costs
     */
    private record Slopes(double[] perFeature, double deviation) {}

    /**
     * Costs of attention, and the cost per position of all rows to which they are relative.
     *
     * @param deviation the mean deviation of the steps from these costs
     */
    private record Fitted(ByBand attention, double slope, double deviation) {}

    /** Returns the curve of what remains without the costs of features. */
    private static Curve curve(Map<Long, List<Row>> bins, double... slopes) {
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
        return Curve.closestTo(x, y, weights);
    }

    /** Returns the curve of decode steps, which may fall from one band to the next. */
    private static Curve curveByBand(Map<Long, List<Row>> bins, double slope) {
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        bins.values().stream()
                .collect(Collectors.groupingBy(like -> like.getFirst().band(), TreeMap::new, Collectors.toList()))
                .values()
                .forEach(band -> {
                    Map<Long, List<Row>> own = new TreeMap<>();
                    band.forEach(like -> own.put((long) like.getFirst().width, like));
                    Curve curve = curve(own, slope);
                    x.addAll(curve.x());
                    y.addAll(curve.y());
                });
        return new Curve(x, y);
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

    /** Returns the costs of attention with the smallest deviation. */
    private static Fitted best(Map<Long, List<Row>> bins) {
        Fitted best = fitted(bins, ByBand.all(LONGEST[0]));
        for (int i = 1; i < LONGEST.length; i += COARSE) {
            best = better(best, fitted(bins, ByBand.all(LONGEST[i])));
        }
        for (int i = 0; i < REFINEMENTS; i++) {
            best = better(best, fitted(bins, refined(bins, best)));
        }
        return best;
    }

    private static Fitted better(Fitted one, Fitted other) {
        return other.deviation() < one.deviation() ? other : one;
    }

    private static Fitted fitted(Map<Long, List<Row>> bins, ByBand attention) {
        bins.values().forEach(like -> like.forEach(row -> row.setAttention(attention)));
        Slopes slopes = slopes(bins, 1 << ATTENTION);
        return new Fitted(attention, slopes.perFeature()[ATTENTION], slopes.deviation());
    }

    /**
     * Returns the costs that fit the steps of each band best: first of the longest row, then of all rows. A band has the costs of the previous
     * band with enough steps, unless other costs are clearly better; bands before the first such band have its costs.
     */
    private static ByBand refined(Map<Long, List<Row>> bins, Fitted fitted) {
        List<Double> position = new ArrayList<>(fitted.attention().position());
        List<Double> longest = new ArrayList<>(fitted.attention().longest());
        int measured = -1;
        for (int band = 0; band < BANDS.size(); band++) {
            int own = band;
            List<List<Row>> steps = bins.values().stream()
                    .map(like -> like.stream().filter(row -> row.band() == own).toList())
                    .toList();
            if (steps.stream().mapToInt(List::size).sum() >= MIN_BAND) {
                if (measured >= 0
                        && MAX_RATIO * deviation(steps, fitted.slope(), position.get(measured), longest.get(measured))
                                <= deviation(steps, fitted.slope(), position.get(band), longest.get(band))) {
                    position.set(band, position.get(measured));
                    longest.set(band, longest.get(measured));
                }
                longest.set(
                        band,
                        closest(
                                LONGEST,
                                longest.get(band),
                                one -> deviation(steps, fitted.slope(), position.get(own), one)));
                position.set(
                        band,
                        closest(
                                POSITION,
                                position.get(band),
                                one -> deviation(steps, fitted.slope(), one, longest.get(own))));
                for (int before = 0; measured < 0 && before < band; before++) {
                    longest.set(before, longest.get(band));
                    position.set(before, position.get(band));
                }
                measured = band;
            } else if (measured >= 0) {
                longest.set(band, longest.get(measured));
                position.set(band, position.get(measured));
            }
        }
        return new ByBand(position, longest);
    }

    /** Returns the candidate with the smallest deviation, or the value so far if none is clearly better. */
    private static double closest(double[] candidates, double soFar, DoubleUnaryOperator deviation) {
        double closest = soFar;
        double least = MAX_RATIO * deviation.applyAsDouble(soFar);
        for (double candidate : candidates) {
            double other = deviation.applyAsDouble(candidate);
            if (other < least) {
                least = other;
                closest = candidate;
            }
        }
        return closest;
    }

    /**
     * Returns the sum of the deviations of steps from the median of steps of like width, relative to the root of their durations: neither many
     * short steps nor few long ones determine the costs.
     */
    private static double deviation(List<List<Row>> bins, double slope, double position, double longest) {
        double sum = 0;
        for (List<Row> like : bins) {
            double[] remaining = like.stream()
                    .mapToDouble(row -> row.values[0] - slope * row.attention(position, longest))
                    .toArray();
            double median = remaining.length == 0 ? 0 : Curve.median(remaining);
            for (int i = 0; i < remaining.length; i++) {
                sum += Math.abs(remaining[i] - median) / Math.sqrt(like.get(i).values[0]);
            }
        }
        return sum;
    }

    /**
     * Returns the cost of each feature, from steps of like width.
     *
     * @param features a bit for each feature that may have a cost
     */
    private static Slopes slopes(Map<Long, List<Row>> bins, int features) {
        List<Row> rows = bins.values().stream().flatMap(List::stream).toList();
        rows.forEach(row -> row.weight = 1);
        int values = rows.getFirst().values.length;
        double[] slopes = new double[values - 1];
        double deviation = 0;
        boolean[] varies = varying(bins, values, features);
        for (int round = 0; round < ROUNDS; round++) {
            List<Curve> centers = IntStream.range(0, values)
                    .mapToObj(value -> through(bins, value))
                    .toList();
            List<double[]> deviations =
                    rows.stream().map(row -> row.deviation(centers)).toList();
            slopes = NonNegativeFit.slopes(IntStream.range(0, rows.size())
                    .mapToObj(i -> times(deviations.get(i), varies, Math.sqrt(rows.get(i).weight)))
                    .toList());
            deviation = weigh(rows, deviations, slopes);
        }
        return new Slopes(slopes, deviation);
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
    private static boolean[] varying(Map<Long, List<Row>> bins, int values, int features) {
        boolean[] varies = new boolean[values];
        for (int i = 0; i < values; i++) {
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
        for (int i = 0; i < slopes.length; i++) {
            nanos -= slopes[i] * values[i + 1];
        }
        return nanos;
    }
}
