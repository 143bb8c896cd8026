package io.roseinfer.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The points of a sweep and their evaluation.
 *
 * @param points the points in the order they were measured
 * @param attainment share of requests that must be good, 0 to 1
 */
public record Sweep(List<SweepPoint> points, double attainment) {
    /** The flag of the request rate. */
    public static final String RATE = "request-rate";

    /** The flag that scales the rate of a trace. */
    public static final String TRACE_SPEED = "trace-speed";

    /** The flag of the load's seed. */
    public static final String SEED = "seed";

    /** Number of lowest rates that must have the same share and median latencies, so that a lower rate would have them too. */
    private static final int EQUAL_RATES = 3;

    /** Maximum relative distance of median latencies that are the same. */
    private static final double EQUAL_LATENCY = 0.01;

    /** Minimum share of good requests up to the knee. */
    static final double GOOD_AT_KNEE = 0.95;

    public Sweep {
        points = List.copyOf(points);
    }

    /** The points that share all varied flags except the rate or the speed of a trace. */
    public record Settings(Map<String, String> flags, List<SweepPoint> points) {
        public Settings {
            points = List.copyOf(points);
        }
    }

    /** Groups points that differ only in the rate, sorted by it. */
    public List<Settings> bySettings() {
        Map<Map<String, String>, List<SweepPoint>> groups = new LinkedHashMap<>();
        for (SweepPoint point : points) {
            Map<String, String> others = new LinkedHashMap<>(point.flags());
            others.remove(RATE);
            others.remove(TRACE_SPEED);
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
        return point.metric(SweepPoint.OFFERED_RATE).orElse(Double.POSITIVE_INFINITY);
    }

    /** The result of a search for a rate, as far as it is known from the points. */
    public sealed interface SearchedRate {
        /**
         * The rate is between two points.
         *
         * @param point the last point by rate that passes, as do all before it
         * @param beyond the next point, which fails; empty if all points pass
         */
        record Between(SweepPoint point, Optional<SweepPoint> beyond) implements SearchedRate {
            /** Returns the next point if it bounds the rate: over 5 % of extrapolated time leaves it undecided. */
            public Optional<SweepPoint> bound() {
                return beyond.filter(point -> point.muchExtrapolated().isEmpty());
            }
        }

        /** The point with the lowest rate fails. */
        record BelowAll() implements SearchedRate {}

        /**
         * The rate is unknown because the deciding run is invalid or too short.
         *
         * @param undecided the deciding point
         * @param least the last point before it, which passes; empty if there is none
         */
        record NotKnown(SweepPoint undecided, Optional<SweepPoint> least) implements SearchedRate {}
    }

    /** Returns the highest rate up to which all points meet the objective. */
    public SearchedRate highest(Settings settings) {
        return last(settings, attainment);
    }

    /**
     * The highest rates of settings that differ only in the seed. Seeds with an unknown rate are in no bound.
     *
     * @param flags the flags of the settings, without the seed
     * @param seeds number of seeds
     * @param low the lowest rate of {@link Sweep#highest} in requests per second; empty if all points of a seed fail
     * @param high the highest of the next measured rates, which fail; empty if a seed has none or its time is extrapolated
     * @param below number of seeds for which all points fail
     * @param unknown number of seeds whose rate is unknown
     */
    public record OverSeeds(
            Map<String, String> flags, int seeds, OptionalDouble low, OptionalDouble high, int below, int unknown) {}

    /** Returns the highest rates over seeds, for each setting that was measured with several. */
    public List<OverSeeds> overSeeds() {
        return overSeeds(this::highest);
    }

    /** Returns the knees over seeds, for each setting that was measured with several. */
    public List<OverSeeds> kneesOverSeeds() {
        return overSeeds(this::knee);
    }

    private List<OverSeeds> overSeeds(Function<Settings, SearchedRate> search) {
        return severalSeeds().entrySet().stream()
                .map(group -> overSeeds(
                        group.getKey(),
                        group.getValue().values().stream().map(search).toList()))
                .toList();
    }

    /** Returns the settings that were measured with several seeds, by their other flags and the seed. */
    private Map<Map<String, String>, Map<String, Settings>> severalSeeds() {
        Map<Map<String, String>, Map<String, Settings>> groups = new LinkedHashMap<>();
        for (Settings settings : bySettings()) {
            Map<String, String> others = new LinkedHashMap<>(settings.flags());
            String seed = others.remove(SEED);
            if (seed != null) {
                groups.computeIfAbsent(others, key -> new LinkedHashMap<>()).put(seed, settings);
            }
        }
        groups.values().removeIf(seeds -> seeds.size() < 2);
        return groups;
    }

    /** Returns whether settings were measured with several seeds, so that rates over seeds include theirs. */
    public boolean isPooled(Settings settings) {
        return severalSeeds().values().stream().anyMatch(seeds -> seeds.containsValue(settings));
    }

    /**
     * A comparison of the highest rates of two settings by seed, for the same requests. Ranges that overlap, unknown ones, and those
     * that extrapolated time decides are neither higher nor lower.
     *
     * @param flags the flags of the compared setting, without the seed
     * @param first the flags of the setting that it is compared with
     * @param seeds number of common seeds
     * @param higher number of seeds with a higher range
     * @param lower number of seeds with a lower range
     * @param extrapolated number of seeds with a range whose points have over 5 % of extrapolated time
     */
    public record BySeed(
            Map<String, String> flags, Map<String, String> first, int seeds, int higher, int lower, int extrapolated) {}

    /** Compares the highest rates of each setting that was measured with several seeds with the first one. */
    public List<BySeed> bySeed() {
        List<BySeed> all = new ArrayList<>();
        Map<Map<String, String>, Map<String, Settings>> groups = severalSeeds();
        groups.entrySet().stream()
                .findFirst()
                .ifPresent(first -> groups.entrySet().stream().skip(1).forEach(other -> all.add(bySeed(first, other))));
        return all;
    }

    private BySeed bySeed(
            Map.Entry<Map<String, String>, Map<String, Settings>> first,
            Map.Entry<Map<String, String>, Map<String, Settings>> other) {
        int seeds = 0;
        int higher = 0;
        int lower = 0;
        int extrapolated = 0;
        for (Map.Entry<String, Settings> seed : other.getValue().entrySet()) {
            Settings same = first.getValue().get(seed.getKey());
            if (same != null) {
                SearchedRate rate = highest(seed.getValue());
                seeds++;
                if (isExtrapolated(seed.getValue()) || isExtrapolated(same)) {
                    extrapolated++;
                } else {
                    higher += isAbove(rate, highest(same)) ? 1 : 0;
                    lower += isAbove(highest(same), rate) ? 1 : 0;
                }
            }
        }
        return new BySeed(other.getKey(), first.getKey(), seeds, higher, lower, extrapolated);
    }

    /** Returns whether a point that decides the highest rate has much extrapolated time: one that passes, or the first that fails. */
    private boolean isExtrapolated(Settings settings) {
        SearchedRate rate = highest(settings);
        Stream<SweepPoint> deciding =
                switch (rate) {
                    case SearchedRate.Between found -> Stream.concat(Stream.of(found.point()), found.beyond().stream());
                    case SearchedRate.BelowAll none ->
                        settings.points().stream().limit(1);
                    case SearchedRate.NotKnown open -> Stream.of(open.undecided());
                };
        return deciding.anyMatch(point -> point.muchExtrapolated().isPresent());
    }

    /** Returns whether a range starts at the end of another one or above. */
    private static boolean isAbove(SearchedRate one, SearchedRate other) {
        if (!(one instanceof SearchedRate.Between found)) {
            return false;
        }
        return switch (other) {
            case SearchedRate.BelowAll none -> true;
            case SearchedRate.Between lower ->
                lower.beyond().filter(end -> rate(found.point()) >= rate(end)).isPresent();
            case SearchedRate.NotKnown open -> false;
        };
    }

    private static OverSeeds overSeeds(Map<String, String> flags, List<SearchedRate> rates) {
        double low = Double.POSITIVE_INFINITY;
        double high = 0;
        boolean hasHigh = true;
        int below = 0;
        int unknown = 0;
        for (SearchedRate searched : rates) {
            switch (searched) {
                case SearchedRate.Between found -> {
                    low = Math.min(low, rate(found.point()));
                    hasHigh &= found.bound().isPresent();
                    high = Math.max(high, found.bound().map(Sweep::rate).orElse(high));
                }
                case SearchedRate.BelowAll none -> below++;
                case SearchedRate.NotKnown open -> unknown++;
            }
        }
        return new OverSeeds(
                flags,
                rates.size(),
                below == 0 && Double.isFinite(low) ? OptionalDouble.of(low) : OptionalDouble.empty(),
                hasHigh && high > 0 ? OptionalDouble.of(high) : OptionalDouble.empty(),
                below,
                unknown);
    }

    /**
     * Returns the share of requests that miss the objective at each of the three lowest rates; empty if a lower rate could meet it. No
     * lower rate is expected to, if these have the same share of good requests, equal median latencies and no backlog.
     *
     * @param flags the flags of the setting, without the rate
     */
    public OptionalDouble missedAtLowest(Map<String, String> flags) {
        List<SweepPoint> lowest = bySettings().stream()
                .filter(settings -> settings.flags().equals(flags))
                .flatMap(settings -> settings.points().stream())
                .limit(EQUAL_RATES)
                .toList();
        boolean isSame = lowest.size() == EQUAL_RATES
                && lowest.stream()
                        .allMatch(point -> point.counts()
                                && point.keepsUp()
                                && !point.isWithin(attainment)
                                && isEqual(point, lowest.getFirst()));
        return isSame ? OptionalDouble.of(1 - lowest.getFirst().goodShare()) : OptionalDouble.empty();
    }

    private static boolean isEqual(SweepPoint point, SweepPoint other) {
        return point.goodShare() == other.goodShare()
                && Stream.of("median_ttft_ms", "median_tpot_ms")
                        .allMatch(metric -> Math.abs(point.metric(metric).orElse(0)
                                        - other.metric(metric).orElse(0))
                                <= EQUAL_LATENCY * other.metric(metric).orElse(0));
    }

    /**
     * Returns the knee: the highest rate up to which all points keep up and 95 % of the requests are good. Beyond it, good throughput no
     * longer follows the load.
     */
    public SearchedRate knee(Settings settings) {
        return last(settings, GOOD_AT_KNEE);
    }

    /**
     * Returns the last point by rate before the first one that fails; an invalid or too short one before that leaves the rate unknown, also
     * where only the objective is undecided.
     */
    private SearchedRate last(Settings settings, double share) {
        Optional<SweepPoint> last = Optional.empty();
        for (SweepPoint point : settings.points()) {
            if (!point.counts() || point.isUndecided(Math.min(share, attainment))) {
                return new SearchedRate.NotKnown(point, last);
            }
            if (!point.meets(share)) {
                return last.map(lower -> (SearchedRate) new SearchedRate.Between(lower, Optional.of(point)))
                        .orElseGet(SearchedRate.BelowAll::new);
            }
            last = Optional.of(point);
        }
        return last.map(point -> (SearchedRate) new SearchedRate.Between(point, Optional.empty()))
                .orElseGet(SearchedRate.BelowAll::new);
    }

    /** Returns the settings whose highest rate is unknown and has no lower bound, because a load is too short. */
    public List<Settings> undecided() {
        return bySettings().stream()
                .filter(settings -> highest(settings) instanceof SearchedRate.NotKnown open
                        && open.undecided().counts()
                        && open.least().isEmpty())
                .toList();
    }

    /** Returns whether the sweep varies the request rate or the speed of a trace. */
    public boolean variesRate() {
        return points.stream()
                .anyMatch(point ->
                        point.flags().containsKey(RATE) || point.flags().containsKey(TRACE_SPEED));
    }

    /** Returns the invalid points. */
    public List<SweepPoint> invalid() {
        return points.stream().filter(point -> !point.counts()).toList();
    }

    /** Returns the tokens per second of one user, from the median time per output token. */
    public static OptionalDouble tokensPerUser(SweepPoint point) {
        OptionalDouble millis = point.metric("median_tpot_ms");
        return millis.isPresent() && millis.getAsDouble() > 0
                ? OptionalDouble.of(1e3 / millis.getAsDouble())
                : OptionalDouble.empty();
    }

    /**
     * Returns the Pareto front of tokens per second per user and in total, sorted by the former. Points that are invalid, have failed
     * requests or over 5 % of extrapolated time are excluded: a server that rejects part of its load is fast for the rest.
     */
    public List<SweepPoint> pareto() {
        List<SweepPoint> valid = points.stream()
                .filter(point -> point.counts()
                        && point.failed() == 0
                        && point.muchExtrapolated().isEmpty()
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
        return point.metric("output_throughput").orElse(0);
    }
}
