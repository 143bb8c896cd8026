package io.roseinfer.bench.http;

import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.metrics.StepRecord;
import java.util.List;

/**
 * One run of a load: raw stamps, from which every number is computed.
 *
 * @param startNanos when the first request could be due; all stamps are of the same clock
 * @param endNanos when every request had ended
 * @param isScheduled whether requests had times to be sent at
 * @param calls every request, in the order of the load
 * @param cost what the process used from start to end
 * @param oddities what was unusual about it
 * @param steps the steps that the engine took meanwhile, oldest first; empty where they are not known
 */
public record LoadResult(
        long startNanos,
        long endNanos,
        boolean isScheduled,
        List<CallResult> calls,
        ClientCost cost,
        Oddities oddities,
        List<StepRecord> steps) {
    private static final double NANOS_PER_SECOND = 1e9;

    public LoadResult {
        calls = List.copyOf(calls);
        steps = List.copyOf(steps);
    }

    /** Those that were answered to their end. */
    public List<CallResult> completed() {
        return calls.stream().filter(CallResult::isComplete).toList();
    }

    public double seconds() {
        return (endNanos - startNanos) / NANOS_PER_SECOND;
    }

    /** Requests per second as they were to be sent. */
    public double scheduledRate() {
        return rate(calls.stream().mapToLong(call -> call.times().dueNanos()).toArray());
    }

    /** Requests per second as they were sent. */
    public double achievedRate() {
        return rate(calls.stream().mapToLong(call -> call.times().sentNanos()).toArray());
    }

    private static double rate(long... nanos) {
        return nanos.length == 0 ? 0 : OfferedLoad.rate(nanos.length, nanos[nanos.length - 1] - nanos[0]);
    }

    public long inputTokens() {
        return completed().stream().mapToLong(CallResult::inputTokens).sum();
    }

    public long outputTokens() {
        return completed().stream().mapToLong(CallResult::tokens).sum();
    }
}
