package io.roseinfer.bench.compare;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.Objectives;
import io.roseinfer.bench.report.RunMetrics;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * One run of a sweep.
 *
 * @param flags values of the varied flags
 * @param metrics by the names of {@link RunMetrics}, {@code requests}, {@code offered_rate} in requests per second and {@code backlog_growth} for loads with times,
 *     {@code needed_requests} of loads that are too short, and {@code extrapolated_share} of simulated runs
 * @param failed number of failed requests
 * @param reasons reasons why the run is invalid; empty if it is valid
 * @param environment index in {@link Study#environments}; absent in files of earlier versions
 */
public record SweepPoint(
        Map<String, String> flags,
        @JsonProperty("figures") Map<String, Double> metrics,
        int failed,
        List<String> reasons,
        @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalInt environment) {
    /** The metric with the number of requests, including failed ones. */
    public static final String REQUESTS = "requests";

    /** The metric with the scheduled request rate. */
    public static final String OFFERED_RATE = "offered_rate";

    /**
     * The metric with the growth of the backlog: mean number of requests in flight in the last quarter of the arrivals less that in the
     * second, divided by the requests that arrive in half of the run; absent for loads without times.
     */
    public static final String BACKLOG_GROWTH = "backlog_growth";

    /** The metric with the number of requests that the load needs; present only if the backlog grew and the load is too short to decide. */
    public static final String NEEDED_REQUESTS = "needed_requests";

    /** The metric with the share of simulated time in steps whose costs are extrapolated, 0 to 1; absent if no costs were measured. */
    public static final String EXTRAPOLATED_SHARE = "extrapolated_share";

    public SweepPoint {
        flags = Collections.unmodifiableMap(new LinkedHashMap<>(flags));
        metrics = Collections.unmodifiableMap(new LinkedHashMap<>(metrics));
        reasons = List.copyOf(reasons);
    }

    /** Creates a point without an environment. */
    public SweepPoint(Map<String, String> flags, Map<String, Double> metrics, int failed, List<String> reasons) {
        this(flags, metrics, failed, reasons, OptionalInt.empty());
    }

    /**
     * Returns the point of a run.
     *
     * @param percentiles further percentiles of latencies, 0 to 100
     */
    public static SweepPoint of(
            Map<String, String> flags,
            LoadResult run,
            RunValidity verdict,
            Objectives objectives,
            List<Double> percentiles) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put(REQUESTS, (double) run.calls().size());
        if (run.isScheduled() && Double.isFinite(run.scheduledRate())) {
            metrics.put(OFFERED_RATE, run.scheduledRate());
            Backlog backlog = Backlog.of(run);
            metrics.put(BACKLOG_GROWTH, backlog.growth());
            if (backlog.growth() > Backlog.KEEPS_UP
                    && backlog.needed() > run.calls().size()) {
                metrics.put(NEEDED_REQUESTS, (double) backlog.needed());
            }
        }
        metrics.putAll(RunMetrics.of(run, objectives, percentiles));
        int completed = run.completed().size();
        // Without bounds, all completed requests are good.
        metrics.putIfAbsent(RunMetrics.REQUEST_GOODPUT, completed / run.seconds());
        int failed = run.calls().size() - completed;
        return new SweepPoint(flags, metrics, failed, verdict.reasons());
    }

    /** Returns the point with a further metric. */
    public SweepPoint with(String metric, double value) {
        Map<String, Double> more = new LinkedHashMap<>(metrics);
        more.put(metric, value);
        return new SweepPoint(flags, more, failed, reasons, environment);
    }

    /** Returns the point with its environment's index. */
    public SweepPoint in(int index) {
        return new SweepPoint(flags, metrics, failed, reasons, OptionalInt.of(index));
    }

    /** Returns the share of extrapolated time if it is large. */
    OptionalDouble muchExtrapolated() {
        OptionalDouble share = metric(EXTRAPOLATED_SHARE);
        return share.orElse(0) > RunValidity.MAX_EXTRAPOLATED_SHARE ? share : OptionalDouble.empty();
    }

    /** Returns a metric; empty without samples. */
    public OptionalDouble metric(String name) {
        Double value = metrics.get(name);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Returns whether the run is valid. */
    public boolean counts() {
        return reasons.isEmpty();
    }

    /**
     * Returns whether the backlog grew by at most 5 % of the arrivals. Otherwise the latencies depend on the number of requests. Loads
     * without times always keep up.
     */
    public boolean keepsUp() {
        return metric(BACKLOG_GROWTH).orElse(0) <= Backlog.KEEPS_UP;
    }

    /** Returns whether the backlog grew, but the load is too short to separate growth from its start or from chance. */
    public boolean isTooShort() {
        return metric(NEEDED_REQUESTS).isPresent();
    }

    /**
     * Returns whether a longer load could show that the point meets an objective. A point outside the bounds fails, however short its load
     * is.
     *
     * @param attainment share of all requests that must be good, 0 to 1
     */
    boolean isUndecided(double attainment) {
        return counts() && isTooShort() && isWithin(attainment);
    }

    /**
     * Returns whether the run is valid, keeps up, and has at least a share of good requests.
     *
     * @param attainment share of all requests, including failed ones, 0 to 1
     */
    public boolean meets(double attainment) {
        return counts() && keepsUp() && isWithin(attainment);
    }

    /** Returns whether at least a share of all requests, 0 to 1, was good. */
    public boolean isWithin(double attainment) {
        return goodShare() >= attainment;
    }

    /** Returns the share of good requests, 0 to 1; without bounds, all completed requests are good. */
    double goodShare() {
        double requests = metric(REQUESTS).orElse(0);
        return metric(RunMetrics.GOOD_SHARE).orElse(requests == 0 ? 0 : 1 - failed / requests);
    }
}
