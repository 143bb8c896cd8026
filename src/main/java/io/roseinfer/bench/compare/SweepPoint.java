package io.roseinfer.bench.compare;

import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.http.SchedulerCounts;
import io.roseinfer.bench.report.RunMetrics;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * One run of a sweep.
 *
 * @param flags values of the varied flags
 * @param figures metrics by the names of {@link RunMetrics}; {@code offered_rate} in requests per second for loads with times; and
 *     {@code preemptions}, {@code recomputed_tokens}, {@code forced_admissions} and {@code cache_hit_rate} for engines with known steps
 * @param failed number of failed requests
 * @param reasons reasons why the run is invalid; empty if it is valid
 */
public record SweepPoint(Map<String, String> flags, Map<String, Double> figures, int failed, List<String> reasons) {
    /** The metric with the scheduled request rate. */
    public static final String OFFERED_RATE = "offered_rate";

    public SweepPoint {
        flags = Collections.unmodifiableMap(new LinkedHashMap<>(flags));
        figures = Collections.unmodifiableMap(new LinkedHashMap<>(figures));
        reasons = List.copyOf(reasons);
    }

    /** Returns the point of a run. */
    public static SweepPoint of(
            Map<String, String> flags, LoadResult run, RunValidity verdict, Map<String, Double> bounds) {
        Map<String, Double> figures = new LinkedHashMap<>();
        if (run.isScheduled() && Double.isFinite(run.scheduledRate())) {
            figures.put(OFFERED_RATE, run.scheduledRate());
        }
        figures.putAll(RunMetrics.of(run, bounds));
        SchedulerCounts.of(run).ifPresent(counts -> {
            figures.put("preemptions", (double) counts.preemptions());
            figures.put("recomputed_tokens", (double) counts.recomputedTokens());
            figures.put("forced_admissions", (double) counts.forcedAdmissions());
            figures.put("cache_hit_rate", counts.cacheHitRate());
        });
        int failed = run.calls().size() - run.completed().size();
        return new SweepPoint(flags, figures, failed, verdict.reasons());
    }

    /** Returns a metric; empty without samples. */
    public OptionalDouble figure(String name) {
        Double value = figures.get(name);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Returns whether the run is valid. */
    public boolean counts() {
        return reasons.isEmpty();
    }

    /**
     * Returns whether the run is valid and has at least a share of good requests.
     *
     * @param attainment share of all requests, including failed ones, 0 to 1
     */
    public boolean meets(double attainment) {
        return counts() && figure("good_share").orElse(0) >= attainment;
    }
}
