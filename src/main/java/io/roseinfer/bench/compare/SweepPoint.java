package io.roseinfer.bench.compare;

import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.SchedulerCounts;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.bench.report.Figures;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * One run of a sweep.
 *
 * @param flags what was varied, by flag, with the value it had
 * @param figures what came of it, by the names of {@link Figures}, {@code offered_rate}, requests per second, of a load that has times, and
 *     {@code preemptions}, {@code recomputed_tokens}, {@code forced_admissions} and {@code cache_hit_rate} of an engine whose steps are known
 * @param failed requests that were not answered to their end
 * @param reasons why the run does not count; empty if it does
 */
public record SweepPoint(Map<String, String> flags, Map<String, Double> figures, int failed, List<String> reasons) {
    /** The figure with the rate at which requests were to be sent. */
    public static final String OFFERED_RATE = "offered_rate";

    public SweepPoint {
        flags = Collections.unmodifiableMap(new LinkedHashMap<>(flags));
        figures = Collections.unmodifiableMap(new LinkedHashMap<>(figures));
        reasons = List.copyOf(reasons);
    }

    /** The point of a run. */
    public static SweepPoint of(
            Map<String, String> flags, LoadResult run, Verdict verdict, Map<String, Double> bounds) {
        Map<String, Double> figures = new LinkedHashMap<>();
        if (run.isScheduled() && Double.isFinite(run.scheduledRate())) {
            figures.put(OFFERED_RATE, run.scheduledRate());
        }
        figures.putAll(Figures.of(run, bounds));
        SchedulerCounts.of(run).ifPresent(counts -> {
            figures.put("preemptions", (double) counts.preemptions());
            figures.put("recomputed_tokens", (double) counts.recomputedTokens());
            figures.put("forced_admissions", (double) counts.forcedAdmissions());
            figures.put("cache_hit_rate", counts.cacheHitRate());
        });
        int failed = run.calls().size() - run.completed().size();
        return new SweepPoint(flags, figures, failed, verdict.reasons());
    }

    /** A figure; empty where there was no sample. */
    public OptionalDouble figure(String name) {
        Double value = figures.get(name);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Whether its run is valid. */
    public boolean counts() {
        return reasons.isEmpty();
    }

    /**
     * Whether so large a share of its requests was good, and the run counts.
     *
     * @param attainment 0 to 1, of all requests, failed ones included
     */
    public boolean meets(double attainment) {
        return counts() && figure("good_share").orElse(0) >= attainment;
    }
}
