package io.roseinfer.bench.compare;

import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.RunMetrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoublePredicate;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * The comparison of two arms: the metrics of every pair, and the ratio of each metric.
 *
 * @param pairs the pairs in the order they were measured
 * @param ratios b / a by metric
 */
public record Comparison(List<Pair> pairs, Map<String, PairedRatio> ratios) {
    /** Minimum number of pairs for ratios. */
    public static final int MIN_PAIRS = 2 * PairedRatio.MIN_BLOCKS;

    /** The result of judging whether b is worse than a by more than is allowed. */
    public enum Outcome {
        WORSE,
        NOT_WORSE,
        /** The metric has no ratio, or an arm's times are {@link #extrapolated}. */
        UNDECIDED
    }

    public Comparison {
        pairs = List.copyOf(pairs);
    }

    /**
     * Two runs of the same requests.
     *
     * @param seed seed of the requests
     * @param a metrics of arm A by name
     * @param b metrics of arm B by name
     */
    public record Pair(long seed, Map<String, Double> a, Map<String, Double> b) {}

    /** Measures an arm with the load of a seed; the result is empty if the run is invalid. */
    @FunctionalInterface
    public interface Arm {
        Optional<Map<String, Double>> measure(long seed);
    }

    /** Measures pairs in the order A B, B A, A B, … and discards pairs with an invalid run. */
    public static final class Pairs {
        private final Arm a;
        private final Arm b;
        private final List<Pair> pairs = new ArrayList<>();
        private int discarded;

        public Pairs(Arm a, Arm b) {
            this.a = a;
            this.b = b;
        }

        /** Measures the next pair; returns false if it was discarded. */
        public boolean measure(long seed) {
            boolean first = pairs.size() % 2 == 0;
            Optional<Map<String, Double>> one = (first ? a : b).measure(seed);
            Optional<Map<String, Double>> other = one.isEmpty() ? one : (first ? b : a).measure(seed);
            if (one.isEmpty() || other.isEmpty()) {
                discarded++;
                return false;
            }
            pairs.add(first ? new Pair(seed, one.get(), other.get()) : new Pair(seed, other.get(), one.get()));
            return true;
        }

        /** Returns the valid pairs. */
        public List<Pair> all() {
            return List.copyOf(pairs);
        }

        /** Returns the number of discarded pairs. */
        public int discarded() {
            return discarded;
        }
    }

    /**
     * Compares all metrics that every run has and that are never 0. There are no ratios for too few pairs, or if all pairs are equal; of an
     * odd number, ratios omit the last.
     */
    public static Comparison of(List<Pair> pairs) {
        Map<String, PairedRatio> ratios = new LinkedHashMap<>();
        List<Pair> blocks = pairs.subList(0, pairs.size() / 2 * 2);
        for (String name : metrics(blocks.size() < MIN_PAIRS || areEqual(pairs) ? List.of() : blocks)) {
            double[] a = values(blocks, name, Pair::a);
            double[] b = values(blocks, name, Pair::b);
            if (DoubleStream.concat(Arrays.stream(a), Arrays.stream(b)).allMatch(value -> value > 0)) {
                ratios.put(name, PairedRatio.of(a, b));
            }
        }
        return new Comparison(pairs, Collections.unmodifiableMap(ratios));
    }

    private static boolean areEqual(List<Pair> pairs) {
        return pairs.size() > 1
                && pairs.stream()
                        .allMatch(pair -> pair.a().equals(pairs.getFirst().a())
                                && pair.b().equals(pairs.getFirst().b()));
    }

    /** Returns whether all of several pairs are equal, as in simulated time if neither the load nor the step times vary. */
    public boolean isOfOneRun() {
        return areEqual(pairs);
    }

    /** Returns whether a metric is equal in both runs of every pair, so that no flag of an arm affected it. */
    public static boolean isIdentical(List<Pair> pairs, String metric) {
        return pairs.stream().allMatch(pair -> {
            Double a = pair.a().get(metric);
            return a != null && a.equals(pair.b().get(metric));
        });
    }

    /** Returns the arms, as in {@code ["a", "b"]}, with a run that has over 5 % of its simulated time extrapolated. */
    public static List<String> extrapolated(List<Pair> pairs) {
        return Stream.of("a", "b")
                .filter(arm -> extrapolatedShare(pairs, arm) > RunValidity.MAX_EXTRAPOLATED_SHARE)
                .toList();
    }

    /** Returns the largest share of extrapolated time of the runs of {@code a} or {@code b}, 0 to 1. */
    static double extrapolatedShare(List<Pair> pairs, String arm) {
        return pairs.stream()
                .map(arm.equals("a") ? Pair::a : Pair::b)
                .mapToDouble(metrics -> metrics.getOrDefault(SweepPoint.EXTRAPOLATED_SHARE, 0.0))
                .max()
                .orElse(0);
    }

    /** Returns whether a metric is undecided because an arm's times are extrapolated; never if it is {@link #isIdentical identical}. */
    public static boolean isExtrapolated(List<Pair> pairs, String metric) {
        return !extrapolated(pairs).isEmpty() && !isIdentical(pairs, metric);
    }

    /** Returns the metrics that every run has and that are never 0. */
    List<String> positive() {
        return metrics(pairs).stream().filter(metric -> !hasZero(metric)).toList();
    }

    /** Returns the metrics that every run has, without the share of extrapolated time, which is reported in notes. */
    private static List<String> metrics(List<Pair> pairs) {
        return pairs.stream()
                .findFirst()
                .map(first -> first.a().keySet().stream()
                        .filter(metric -> !metric.equals(SweepPoint.EXTRAPOLATED_SHARE))
                        .filter(metric -> pairs.stream()
                                .allMatch(pair ->
                                        pair.a().containsKey(metric) && pair.b().containsKey(metric)))
                        .toList())
                .orElse(List.of());
    }

    /** Returns the metrics without a ratio because they are 0 in some run. */
    public List<String> withZeros() {
        return metrics(pairs).stream()
                .filter(metric -> !hasRatio(metric) && hasZero(metric))
                .toList();
    }

    private boolean hasRatio(String metric) {
        return ratios.containsKey(metric);
    }

    private boolean hasZero(String metric) {
        return pairs.stream()
                .anyMatch(pair ->
                        pair.a().getOrDefault(metric, 1.0) <= 0 || pair.b().getOrDefault(metric, 1.0) <= 0);
    }

    private static double[] values(List<Pair> pairs, String name, Function<Pair, Map<String, Double>> arm) {
        return pairs.stream()
                .mapToDouble(pair -> arm.apply(pair).getOrDefault(name, 0.0))
                .toArray();
    }

    /**
     * Judges a metric. Without a ratio, b is worse only if the metric fell to 0, or a latency rose from 0, in every run.
     *
     * @param share share by which b may be worse
     */
    public Outcome judge(String metric, double share) {
        if (isExtrapolated(pairs, metric)) {
            return Outcome.UNDECIDED;
        }
        PairedRatio ratio = ratios.get(metric);
        boolean higher = RunMetrics.isHigherBetter(metric);
        boolean worse;
        if (ratio != null) {
            worse = higher ? ratio.high() < 1 - share : ratio.low() > 1 + share;
            return worse ? Outcome.WORSE : Outcome.NOT_WORSE;
        }
        worse = (pairs.size() >= MIN_PAIRS || isOfOneRun())
                && metrics(pairs).contains(metric)
                && all(higher ? Pair::b : Pair::a, metric, value -> value == 0)
                && all(higher ? Pair::a : Pair::b, metric, value -> value > 0);
        return worse ? Outcome.WORSE : Outcome.UNDECIDED;
    }

    private boolean all(Function<Pair, Map<String, Double>> arm, String metric, DoublePredicate test) {
        return Arrays.stream(values(pairs, metric, arm)).allMatch(test);
    }
}
