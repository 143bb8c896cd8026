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
 * The raw data of one run of the streaming benchmark, from which all its results are computed.
 *
 * @param load the requests with their responses, and the engine's steps (only the newest if there were more than it keeps)
 * @param submittedNanos when the last submit call returned
 * @param after the engine's counters after all requests had ended
 * @param profile the operator times of the same steps; empty unless the run was profiled
 */
public record RunResult(LoadResult load, long submittedNanos, EngineStats after, List<StepProfile> profile) {
    public RunResult {
        profile = List.copyOf(profile);
    }

    /** Returns the accepted requests, in the order they were submitted. */
    public List<CallResult> requests() {
        return load.completed();
    }

    /** Returns the number of requests that the engine rejected due to overload. */
    public int rejected() {
        return load.calls().size() - requests().size();
    }

    /** Returns the time from the start until the last submit call returned. */
    public long submitWallNanos() {
        return submittedNanos - load.startNanos();
    }

    /** Returns the summary of a latency over the accepted requests. */
    public Summary millis(RequestLatency latency) {
        return latency.millis(stamps());
    }

    /** Returns the generated tokens per second, from the first submit to the last finish. */
    public double tokensPerSecond() {
        return RequestStamps.tokensPerSecond(stamps());
    }

    private List<RequestStamps> stamps() {
        return requests().stream()
                .map(call -> call.engine().orElseThrow().stamps())
                .toList();
    }

    /** Returns the time that the engine's thread spent on decode steps. */
    public HostTime hostTime() {
        return HostTime.of(load.steps());
    }

    /** Returns the submit lag of each request, including rejected ones; empty unless requests had times. */
    public List<Long> submitLagNanos() {
        return load.isScheduled()
                ? load.calls().stream().map(CallResult::lagNanos).toList()
                : List.of();
    }

    /** Returns the summary of the submit lag in milliseconds. */
    public Summary submitLagMillis() {
        return Summary.ofMillis(submitLagNanos().stream().mapToDouble(nanos -> nanos));
    }

    /** Returns the prompt tokens of the accepted requests. */
    public long promptTokens() {
        return requests().stream()
                .mapToLong(call -> call.usage().promptTokens())
                .sum();
    }

    /** Returns the prompt tokens found in the prefix cache. */
    public long cachedTokens() {
        return requests().stream().mapToLong(CallResult::cachedTokens).sum();
    }

    public long completionTokens() {
        return load.outputTokens();
    }

    /** Returns the KV blocks that are not free after the run: only cached prefixes unless blocks leaked. */
    public int blocksInUseAfter() {
        return after.blocksInUse() + after.blocksCached();
    }
}
