package io.roseinfer.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

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

    /** The point with the highest rate that meets the objective below all that do not; empty if the lowest one does not. */
    public Optional<SweepPoint> highest(Settings settings) {
        Optional<SweepPoint> highest = Optional.empty();
        for (SweepPoint point : settings.points()) {
            if (!point.meets(attainment)) {
                break;
            }
            highest = Optional.of(point);
        }
        return highest;
    }

    /**
     * The knee: the point with the highest rate up to which good requests are completed at 95 % or more of the rate at which requests
     * come. Beyond it more load brings less than it asks. Empty if the lowest one is beyond it.
     */
    public Optional<SweepPoint> knee(Settings settings) {
        Optional<SweepPoint> knee = Optional.empty();
        for (SweepPoint point : settings.points()) {
            double good = point.figure("completion_rate").orElse(0)
                    * point.figure("good_share").orElse(0);
            if (!(good >= KEEPS_UP * rate(point))) {
                break;
            }
            knee = Optional.of(point);
        }
        return knee;
    }

    /** Tokens per second that one user sees: what the median time per output token comes to. */
    public static OptionalDouble tokensPerUser(SweepPoint point) {
        OptionalDouble millis = point.figure("median_tpot_ms");
        return millis.isPresent() && millis.getAsDouble() > 0
                ? OptionalDouble.of(1e3 / millis.getAsDouble())
                : OptionalDouble.empty();
    }

    /** The valid points that no other one beats in both, tokens per second of one user and of all (Pareto), by the former. */
    public List<SweepPoint> pareto() {
        List<SweepPoint> valid = points.stream()
                .filter(point ->
                        point.reasons().isEmpty() && tokensPerUser(point).isPresent())
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
