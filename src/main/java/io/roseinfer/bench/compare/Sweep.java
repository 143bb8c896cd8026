package io.roseinfer.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/**
 * The points of a sweep, and what they say together.
 *
 * @param points in the order they were measured
 * @param attainment the share of requests that must be good, 0 to 1
 */
public record Sweep(List<SweepPoint> points, double attainment) {
    /** The varied flag that has rates. */
    public static final String RATE = "request-rate";

    /** A server keeps up while it completes good requests at this share of the offered rate. */
    private static final double KEEPS_UP = 0.95;

    public Sweep {
        points = List.copyOf(points);
    }

    /** A point for each setting of what was varied beside the rate. */
    public record Settings(Map<String, String> flags, List<SweepPoint> points) {
        public Settings {
            points = List.copyOf(points);
        }
    }

    /** Points that differ in nothing but the rate, by it. */
    public List<Settings> bySettings() {
        Map<Map<String, String>, List<SweepPoint>> groups = new LinkedHashMap<>();
        for (SweepPoint point : points) {
            Map<String, String> others = new LinkedHashMap<>(point.flags());
            others.remove(RATE);
            groups.computeIfAbsent(others, key -> new ArrayList<>()).add(point);
        }
        List<Settings> all = new ArrayList<>();
        groups.forEach((flags, group) -> {
            group.sort(Comparator.comparingDouble(Sweep::rate));
            all.add(new Settings(flags, group));
        });
        return all;
    }

    private static double rate(SweepPoint point) {
        return point.figure(SweepPoint.OFFERED_RATE).orElse(Double.POSITIVE_INFINITY);
    }

    /** A rate that was looked for, as far as the points say. */
    public sealed interface Answer {
        /**
         * The rate is between two points that were measured.
         *
         * @param point the last point, by rate, for which it is true, as for all before it
         * @param beyond the next point, for which it is not; empty if it is true for all points
         */
        record Between(SweepPoint point, Optional<SweepPoint> beyond) implements Answer {}

        /** It is not true of the point with the lowest rate. */
        record BelowAll() implements Answer {}

        /**
         * Nobody knows, since a run that does not count stands where it is decided.
         *
         * @param undecided the point of that run
         * @param least the last point before it, if it is true of that one
         */
        record NotKnown(SweepPoint undecided, Optional<SweepPoint> least) implements Answer {}
    }

    /** The highest rate that meets the objective, as all below it do. */
    public Answer highest(Settings settings) {
        return last(settings, point -> point.meets(attainment));
    }

    /**
     * The knee: the highest rate up to which good requests are completed at 95 % or more of the rate at which requests come. Beyond it
     * more load brings less than it asks.
     */
    public Answer knee(Settings settings) {
        return last(settings, point -> {
            double good = point.figure("completion_rate").orElse(0)
                    * point.figure("good_share").orElse(0);
            return good >= KEEPS_UP * rate(point);
        });
    }

    /** The last point, by rate, before the first one that counts and fails a test; points that do not count pass and fail nothing. */
    private static Answer last(Settings settings, Predicate<SweepPoint> passes) {
        Optional<SweepPoint> last = Optional.empty();
        for (SweepPoint point : settings.points()) {
            if (!point.counts()) {
                return new Answer.NotKnown(point, last);
            }
            if (!passes.test(point)) {
                return last.map(lower -> (Answer) new Answer.Between(lower, Optional.of(point)))
                        .orElseGet(Answer.BelowAll::new);
            }
            last = Optional.of(point);
        }
        return last.map(point -> (Answer) new Answer.Between(point, Optional.empty()))
                .orElseGet(Answer.BelowAll::new);
    }

    /** Returns whether a rate was looked for: whether points differ in it by a flag of the sweep. */
    public boolean variesRate() {
        return points.stream().anyMatch(point -> point.flags().containsKey(RATE));
    }

    /** The points whose runs do not count. */
    public List<SweepPoint> invalid() {
        return points.stream().filter(point -> !point.counts()).toList();
    }

    /** Tokens per second that one user sees: what the median time per output token comes to. */
    public static OptionalDouble tokensPerUser(SweepPoint point) {
        OptionalDouble millis = point.figure("median_tpot_ms");
        return millis.isPresent() && millis.getAsDouble() > 0
                ? OptionalDouble.of(1e3 / millis.getAsDouble())
                : OptionalDouble.empty();
    }

    /**
     * Returns the points that no other one beats in both, tokens per second of one user and of all (Pareto), by the former. Points that are
     * invalid or have failed requests are left out: a server that serves a part of its load looks fast to that part.
     */
    public List<SweepPoint> pareto() {
        List<SweepPoint> valid = points.stream()
                .filter(point -> point.counts()
                        && point.failed() == 0
                        && tokensPerUser(point).isPresent())
                .toList();
        return valid.stream()
                .filter(point -> valid.stream().noneMatch(other -> beats(other, point)))
                .sorted(Comparator.comparingDouble(point -> tokensPerUser(point).orElse(0)))
                .toList();
    }

    private static boolean beats(SweepPoint one, SweepPoint other) {
        double user = tokensPerUser(one).orElse(0) - tokensPerUser(other).orElse(0);
        double all = throughput(one) - throughput(other);
        return user >= 0 && all >= 0 && (user > 0 || all > 0);
    }

    private static double throughput(SweepPoint point) {
        return point.figure("output_throughput").orElse(0);
    }
}
