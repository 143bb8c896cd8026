package io.roseinfer.bench.report;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** The steps of each engine, indexed by end time. */
final class StepIndex {
    private static final NavigableMap<Long, StepRecord> NONE = Collections.emptyNavigableMap();

    private final Map<Long, NavigableMap<Long, StepRecord>> byEngine = new HashMap<>();

    StepIndex(List<StepRecord> steps) {
        for (StepRecord step : steps) {
            byEngine.computeIfAbsent(step.get(Fact.ENGINE), engine -> new TreeMap<>())
                    .put(step.endNanos(), step);
        }
    }

    private NavigableMap<Long, StepRecord> of(int engine) {
        return byEngine.getOrDefault((long) engine, NONE);
    }

    /** Returns the last step of an engine that ended by a token's time: the step that produced it. */
    Optional<StepRecord> before(int engine, long nanos) {
        return Optional.ofNullable(of(engine).floorEntry(nanos)).map(Map.Entry::getValue);
    }

    /** Returns the duration of a step, from its planning or the end of the previous step, whichever is later, to its end. */
    double nanos(StepRecord step) {
        Long before = of((int) step.get(Fact.ENGINE)).lowerKey(step.endNanos());
        long start = step.get(Fact.START_NANOS);
        return step.endNanos() - (before == null ? start : Math.max(start, before));
    }

    /** Returns the steps of an engine that ended in (afterNanos, untilNanos], oldest first. */
    List<StepRecord> between(int engine, long afterNanos, long untilNanos) {
        return afterNanos < untilNanos
                ? List.copyOf(
                        of(engine).subMap(afterNanos, false, untilNanos, true).values())
                : List.of();
    }
}
