package io.roseinfer.bench.compare;

import io.roseinfer.bench.report.Figures;
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

/**
 * The results of two arms: every pair's figures, and the ratio of each.
 *
 * @param pairs in the order they were measured
 * @param ratios b / a by figure
 */
public record Comparison(List<Pair> pairs, Map<String, PairedRatio> ratios) {
    /** Minimum pairs of a comparison. */
    public static final int MIN_PAIRS = 2 * PairedRatio.MIN_BLOCKS;

    /** Whether b is worse than a by more than is allowed. */
    public enum Outcome {
        WORSE,
        NOT_WORSE,
        /** The figure has no ratio, so nothing is known. */
        UNDECIDED
    }

    public Comparison {
        pairs = List.copyOf(pairs);
    }

    /**
     * Two runs of the same requests.
     *
     * @param seed of the requests
     * @param a figures of one arm by name
     * @param b of the other
     */
    public record Pair(long seed, Map<String, Double> a, Map<String, Double> b) {}

    /** Measures an arm under the load of a seed; empty if the run does not count. */
    @FunctionalInterface
    public interface Arm {
        Optional<Map<String, Double>> measure(long seed);
    }

    /** Measures pairs A B, B A, A B, … in turn. A pair of which a run does not count is measured again. */
    public static final class Pairs {
        private final Arm a;
        private final Arm b;
        private final List<Pair> pairs = new ArrayList<>();
        private int discarded;

        public Pairs(Arm a, Arm b) {
            this.a = a;
            this.b = b;
        }

        /** Measures the next pair; false if it does not count. */
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

        /** Pairs that count. */
        public List<Pair> all() {
            return List.copyOf(pairs);
        }

        /** Pairs that do not. */
        public int discarded() {
            return discarded;
        }
    }

    /**
     * Compares all figures that every run has and that are never 0. Too few pairs have no ratios; of an odd number the last is left out of
     * them.
     */
    public static Comparison of(List<Pair> pairs) {
        Map<String, PairedRatio> ratios = new LinkedHashMap<>();
        List<Pair> blocks = pairs.subList(0, pairs.size() / 2 * 2);
        for (String name : figures(blocks.size() < MIN_PAIRS ? List.of() : blocks)) {
            double[] a = values(blocks, name, Pair::a);
            double[] b = values(blocks, name, Pair::b);
            if (DoubleStream.concat(Arrays.stream(a), Arrays.stream(b)).allMatch(value -> value > 0)) {
                ratios.put(name, PairedRatio.of(a, b));
            }
        }
        return new Comparison(pairs, Collections.unmodifiableMap(ratios));
    }

    /** Figures that every run has. */
    private static List<String> figures(List<Pair> pairs) {
        return pairs.stream()
                .findFirst()
                .map(first -> first.a().keySet().stream()
                        .filter(figure -> pairs.stream()
                                .allMatch(pair ->
                                        pair.a().containsKey(figure) && pair.b().containsKey(figure)))
                        .toList())
                .orElse(List.of());
    }

    /** Returns the figures that every run has and that are 0 in some, so that they have no ratio. */
    public List<String> withZeros() {
        return figures(pairs).stream()
                .filter(figure -> !hasRatio(figure) && hasZero(figure))
                .toList();
    }

    private boolean hasRatio(String figure) {
        return ratios.containsKey(figure);
    }

    private boolean hasZero(String figure) {
        return pairs.stream()
                .anyMatch(pair ->
                        pair.a().getOrDefault(figure, 1.0) <= 0 || pair.b().getOrDefault(figure, 1.0) <= 0);
    }

    private static double[] values(List<Pair> pairs, String name, Function<Pair, Map<String, Double>> arm) {
        return pairs.stream()
                .mapToDouble(pair -> arm.apply(pair).getOrDefault(name, 0.0))
                .toArray();
    }

    /**
     * Judges a figure. Without a ratio b is worse only if it fell to 0 in every run, or a latency rose from 0 in every run.
     *
     * @param share by how much b may be worse
     */
    public Outcome judge(String figure, double share) {
        PairedRatio ratio = ratios.get(figure);
        boolean higher = Figures.isHigherBetter(figure);
        boolean worse;
        if (ratio != null) {
            worse = higher ? ratio.high() < 1 - share : ratio.low() > 1 + share;
            return worse ? Outcome.WORSE : Outcome.NOT_WORSE;
        }
        worse = pairs.size() >= MIN_PAIRS
                && figures(pairs).contains(figure)
                && all(higher ? Pair::b : Pair::a, figure, value -> value == 0)
                && all(higher ? Pair::a : Pair::b, figure, value -> value > 0);
        return worse ? Outcome.WORSE : Outcome.UNDECIDED;
    }

    private boolean all(Function<Pair, Map<String, Double>> arm, String figure, DoublePredicate test) {
        return Arrays.stream(values(pairs, figure, arm)).allMatch(test);
    }
}
