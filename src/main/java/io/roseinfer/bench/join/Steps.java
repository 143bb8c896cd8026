package io.roseinfer.bench.join;

import io.roseinfer.metrics.StepRecord;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** The steps of an engine by their ends. */
public final class Steps {
    private final NavigableMap<Long, StepRecord> byEnd = new TreeMap<>();

    public Steps(List<StepRecord> steps) {
        steps.forEach(step -> byEnd.put(step.endNanos(), step));
    }

    /** The step that ended last when a token was there: the one that made it. */
    Optional<StepRecord> before(long nanos) {
        return Optional.ofNullable(byEnd.floorEntry(nanos)).map(Map.Entry::getValue);
    }

    /** The steps that ended after a time and not after another, oldest first. */
    List<StepRecord> between(long afterNanos, long untilNanos) {
        return afterNanos < untilNanos
                ? List.copyOf(byEnd.subMap(afterNanos, false, untilNanos, true).values())
                : List.of();
    }
}
