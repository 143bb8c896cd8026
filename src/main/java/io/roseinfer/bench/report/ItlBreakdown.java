package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.metrics.StepRecord;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * The gaps between token events of a run's requests by the client's timestamps, with a breakdown if the engine's steps are known.
 * Its parts are {@code decode} and {@code prompts}, the steps without and with prompt tokens; {@code idle}, the engine outside of steps;
 * {@code delivery}, the change of the delay between engine and client from the previous token to this one, which may be negative. A decode
 * step that waited on the device for a step with prompt tokens includes only the time after that step.
 */
final class ItlBreakdown {
    /** The names of the parts in order. */
    static final List<String> PARTS = List.of("decode", "prompts", "idle", "delivery");

    private static final int DECODE = 0;
    private static final int PROMPTS = 1;
    private static final int IDLE = 2;
    private static final int DELIVERY = 3;

    private static final int LONGEST = 20;

    /** Orders gaps by duration; of equal ones, the first one is the longest. */
    private static final Comparator<Gap> BY_DURATION = Comparator.comparingLong(Gap::nanos)
            .thenComparing(Comparator.comparingInt(Gap::request).reversed())
            .thenComparing(Comparator.comparingInt(Gap::token).reversed());

    private final List<CallResult> calls;
    private final StepIndex steps;
    /** The parts of a gap with known steps. */
    private final long[] parts = new long[PARTS.size()];

    private final PriorityQueue<Gap> longest = new PriorityQueue<>(BY_DURATION);
    private int unknown;
    private final BreakdownTable table;

    /**
     * A gap.
     *
     * @param request id of the request
     * @param token index of the first token of the later event; the request's first token has index 0
     * @param nanos duration of the gap
     * @param waitedFor the longest step that ended in the gap; empty if the steps are unknown
     * @param stepNanos duration of that step, without its wait for the previous step on the device
     */
    record Gap(int request, int token, long nanos, Optional<StepRecord> waitedFor, long stepNanos) {}

    /** Computes the gaps of requests in the order of the load. */
    ItlBreakdown(List<CallResult> calls, StepIndex steps) {
        this.calls = calls;
        this.steps = steps;
        this.table = BreakdownTable.of(PARTS, this::forEachKnown);
    }

    private void forEachKnown(Consumer<long[]> action) {
        longest.clear();
        unknown = 0;
        for (CallResult call : calls) {
            add(call, action);
        }
    }

    private void add(CallResult call, Consumer<long[]> action) {
        long[] seen = call.arrivals().nanos();
        int[] counts = call.arrivals().tokens();
        long[] had = call.server().map(ServerStamps::tokenNanos).orElse(new long[0]);
        StepIndex.EngineSteps engine =
                steps.of(call.server().map(stamps -> stamps.served().engine()).orElse(0));
        boolean isStamped = seen.length > 1 && seen.length == had.length;
        // The last step that ended by the time of the later token.
        int last = isStamped ? engine.before(had[0]) : -1;
        int token = 0;
        for (int event = 1; event < seen.length; event++) {
            token += counts.length == 0 ? 1 : counts[event - 1];
            long nanos = seen[event] - seen[event - 1];
            int before = last;
            if (isStamped) {
                last = had[event] < had[event - 1] ? engine.before(had[event]) : engine.advance(last, had[event]);
            }
            if (last > before && (before >= 0 || engine.hasFirst())) {
                int longestStep = setParts(nanos, engine, before, last, had[event - 1], had[event]);
                action.accept(parts);
                addLong(call.id(), token, nanos, engine, longestStep);
            } else {
                unknown++;
                addLong(call.id(), token, nanos, engine, -1);
            }
        }
    }

    /** Sets the parts of a gap, and returns the longest of its steps. */
    private int setParts(
            long nanos, StepIndex.EngineSteps engine, int before, int last, long fromNanos, long untilNanos) {
        long decode = 0;
        long prompts = 0;
        long reached = fromNanos;
        int longestStep = before + 1;
        for (int step = before + 1; step <= last; step++) {
            long stepNanos = engine.endNanos(step) - Math.max(reached, engine.startNanos(step));
            reached = engine.endNanos(step);
            if (engine.hasPromptTokens(step)) {
                prompts += stepNanos;
            } else {
                decode += stepNanos;
            }
            if (step > before + 1 && engine.nanos(step) > engine.nanos(longestStep)) {
                longestStep = step;
            }
        }
        long engineNanos = untilNanos - fromNanos;
        parts[DECODE] = decode;
        parts[PROMPTS] = prompts;
        parts[IDLE] = engineNanos - decode - prompts;
        parts[DELIVERY] = nanos - engineNanos;
        return longestStep;
    }

    private void addLong(int request, int token, long nanos, StepIndex.EngineSteps engine, int step) {
        if (longest.size() == LONGEST && nanos <= longest.element().nanos()) {
            return;
        }
        longest.add(
                step < 0
                        ? new Gap(request, token, nanos, Optional.empty(), 0)
                        : new Gap(request, token, nanos, Optional.of(engine.step(step)), engine.nanos(step)));
        if (longest.size() > LONGEST) {
            longest.remove();
        }
    }

    /** Returns the parts of the gaps with known steps. */
    BreakdownTable table() {
        return table;
    }

    /** Returns the number of gaps whose steps are unknown. */
    int unknown() {
        return unknown;
    }

    /** Returns the {@value #LONGEST} longest gaps, the longest first. */
    List<Gap> longest() {
        return longest.stream().sorted(BY_DURATION.reversed()).toList();
    }
}
