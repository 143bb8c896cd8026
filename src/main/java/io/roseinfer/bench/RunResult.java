package io.roseinfer.bench;

import io.roseinfer.backend.StepProfile;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.metrics.HostTime;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.Summary;
import java.util.List;

/**
 * One run of the streaming benchmark. All its numbers are computed from what it holds.
 *
 * @param load the requests, each with its whole answer, and the engine's steps: the newest, if there were more than it keeps
 * @param submittedNanos when the last submit call returned
 * @param after the engine's counters once every request had ended
 * @param profile the same steps operator by operator; empty unless the run was profiled
 */
public record RunResult(LoadResult load, long submittedNanos, EngineStats after, List<StepProfile> profile) {
    public RunResult {
        profile = List.copyOf(profile);
    }

    /** Returns the accepted requests, in the order they were submitted. */
    public List<CallResult> requests() {
        return load.completed();
    }

    /** Returns how many requests the engine refused as overloaded. */
    public int rejected() {
        return load.calls().size() - requests().size();
    }

    /** Returns the time from the start until the last submit call returned. */
    public long submitWallNanos() {
        return submittedNanos - load.startNanos();
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
        return requests().stream()
                .map(call -> call.engine().orElseThrow().stamps())
                .toList();
    }

    /** Cost of the run's decode steps for the engine's thread. */
    public HostTime hostTime() {
        return HostTime.of(load.steps());
    }

    /** Returns how late each request was submitted, rejected ones included; empty unless they had times. */
    public List<Long> submitLagNanos() {
        return load.isScheduled()
                ? load.calls().stream().map(CallResult::lagNanos).toList()
                : List.of();
    }

    /** How late requests were submitted, in milliseconds. */
    public Summary submitLagMillis() {
        return Summary.ofMillis(submitLagNanos().stream().mapToDouble(nanos -> nanos));
    }

    /** Prompt tokens of the accepted requests. */
    public long promptTokens() {
        return requests().stream()
                .mapToLong(call -> call.usage().promptTokens())
                .sum();
    }

    /** Prompt tokens that were found in the prefix cache instead of computed. */
    public long cachedTokens() {
        return requests().stream().mapToLong(CallResult::cachedTokens).sum();
    }

    public long completionTokens() {
        return load.outputTokens();
    }

    /** KV blocks that are not free: cached prefixes alone, if nothing leaked. */
    public int blocksInUseAfter() {
        return after.blocksInUse() + after.blocksCached();
    }
}
