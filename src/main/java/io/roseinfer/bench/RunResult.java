package io.roseinfer.bench;

import io.roseinfer.backend.StepProfile;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.metrics.HostTime;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import java.util.List;

/**
 * One run: raw stamps, from which every printed number is computed.
 *
 * @param startNanos when submitting began; all stamps are of the same clock
 * @param requests the accepted requests, in the order they were submitted
 * @param rejected requests the engine refused as overloaded
 * @param submitWallNanos from the start until the last submit call returned
 * @param submitLagNanos how late each request was submitted, rejected ones included; empty unless the schedule has targets
 * @param after the engine's counters once every request had ended
 * @param steps the engine's steps, oldest first; the newest, if there were more than it keeps
 * @param profile the same steps operator by operator; empty unless the run was profiled
 */
public record RunResult(
        long startNanos,
        List<RequestResult> requests,
        int rejected,
        long submitWallNanos,
        List<Long> submitLagNanos,
        EngineStats after,
        List<StepRecord> steps,
        List<StepProfile> profile) {
    public RunResult {
        requests = List.copyOf(requests);
        submitLagNanos = List.copyOf(submitLagNanos);
        steps = List.copyOf(steps);
        profile = List.copyOf(profile);
    }

    public RunResult withProfile(List<StepProfile> value) {
        return new RunResult(startNanos, requests, rejected, submitWallNanos, submitLagNanos, after, steps, value);
    }

    /** Returns a latency over the accepted requests. */
    public Summary millis(RequestLatency latency) {
        return latency.millis(stamps());
    }

    /** Generated tokens per second, from the first submit to the last finish. */
    public double tokensPerSecond() {
        return RequestStamps.tokensPerSecond(stamps());
    }

    private List<RequestStamps> stamps() {
        return requests.stream().map(RequestResult::stamps).toList();
    }

    /** Cost of the run's decode steps for the engine's thread. */
    public HostTime hostTime() {
        return HostTime.of(steps.stream()
                .filter(step -> step.get(Fact.START_NANOS) >= startNanos)
                .toList());
    }

    /** How late requests were submitted, in milliseconds. */
    public Summary submitLagMillis() {
        return Summary.ofMillis(submitLagNanos.stream().mapToDouble(nanos -> nanos));
    }

    /** Prompt tokens of the accepted requests. */
    public long promptTokens() {
        return requests.stream().mapToLong(RequestResult::promptTokens).sum();
    }

    /** Prompt tokens that were found in the prefix cache instead of computed. */
    public long cachedTokens() {
        return requests.stream().mapToLong(RequestResult::cachedTokens).sum();
    }

    public long completionTokens() {
        return requests.stream()
                .map(RequestResult::stamps)
                .mapToLong(RequestStamps::tokens)
                .sum();
    }

    /** KV blocks that are not free: cached prefixes alone, if nothing leaked. */
    public int blocksInUseAfter() {
        return after.blocksInUse() + after.blocksCached();
    }
}
