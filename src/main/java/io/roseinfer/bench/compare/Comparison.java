package io.roseinfer.bench.compare;

import io.roseinfer.bench.report.Figures;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/**
 * What came of two arms: every pair's figures, and the ratio of each.
 *
 * @param pairs in the order they were measured
 * @param ratios b / a by figure
 */
public record Comparison(List<Pair> pairs, Map<String, PairedRatio> ratios) {
    /** Fewest pairs that a comparison takes. */
    public static final int FEWEST_PAIRS = 2 * PairedRatio.FEWEST_BLOCKS;

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
     * Compares all figures that every run has and that are never 0.
     *
     * @param seed of the resamples
     */
    public static Comparison of(List<Pair> pairs, long seed) {
        Map<String, PairedRatio> ratios = new LinkedHashMap<>();
        for (String name : pairs.getFirst().a().keySet()) {
            double[] a = values(pairs, name, Pair::a);
            double[] b = values(pairs, name, Pair::b);
            if (DoubleStream.concat(Arrays.stream(a), Arrays.stream(b)).allMatch(value -> value > 0)) {
                ratios.put(name, PairedRatio.of(a, b, seed));
            }
        }
        return new Comparison(pairs, Collections.unmodifiableMap(ratios));
    }

    /** Figures that every run has and that are 0 in some, so that they have no ratio. */
    public List<String> withZeros() {
        return pairs.getFirst().a().keySet().stream()
                .filter(figure -> !ratios.containsKey(figure))
                .filter(figure -> pairs.stream()
                        .allMatch(
                                pair -> pair.a().containsKey(figure) && pair.b().containsKey(figure)))
                .toList();
    }

    private static double[] values(List<Pair> pairs, String name, Function<Pair, Map<String, Double>> arm) {
        return pairs.stream()
                .mapToDouble(pair -> arm.apply(pair).getOrDefault(name, 0.0))
                .toArray();
    }

    /** Whether the interval of a figure leaves out that b is no worse than a by more than some share. */
    public boolean isWorse(String figure, double share) {
        PairedRatio ratio = ratios.get(figure);
        if (ratio == null) {
            return false;
        }
        return Figures.isHigherBetter(figure) ? ratio.high() < 1 - share : ratio.low() > 1 + share;
    }
}
