package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.WarmUp;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.EngineResponse;
import io.roseinfer.metrics.HostTime;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import io.roseinfer.metrics.TokenTimes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@code bench streaming}, from which every printed number can be recomputed.
 *
 * @param schema 1; raised by changes that break readers
 * @param settings the effective value of every flag by its long name with underscores, with automatic choices resolved. null means "no
 *     limit", automatic or not applicable (dtype on sim, threads on devices other than cpu)
 * @param environment the environment of the measurement
 * @param warmUp the warm-up before the runs
 * @param overRuns summary of the runs
 * @param runs the completed measured runs in order, without warm-ups
 */
public record StreamingResult(
        int schema,
        Map<String, @Nullable Object> settings,
        Environment environment,
        @JsonInclude(Include.NON_ABSENT) Optional<WarmUp> warmUp,
        AcrossAllRuns overRuns,
        List<Run> runs)
        implements BenchResult {
    /**
     * Returns the results of runs.
     *
     * @param withIds whether to include generated token ids
     */
    public static StreamingResult of(
            Map<String, @Nullable Object> settings,
            Environment environment,
            Optional<WarmUp> warmUp,
            List<RunResult> runs,
            boolean withIds) {
        return new StreamingResult(
                ResultKind.STREAMING.schema(),
                settings,
                environment,
                warmUp,
                RunsReport.overRuns(runs),
                runs.stream().map(run -> Run.of(run, withIds)).toList());
    }

    /**
     * The median and range of each metric over the runs.
     *
     * @param metrics {p50, p95, p99} for every metric of a run's summary that has percentiles
     * @param throughputTokS throughput, as in a run's summary
     */
    public record AcrossAllRuns(
            @JsonAnyGetter @JsonAnySetter Map<String, Map<String, AcrossRuns>> metrics, AcrossRuns throughputTokS) {}

    /**
     * One run.
     *
     * @param summary its metrics
     * @param requests the accepted requests in submit order
     * @param submitLagNanos submit lag of each request, including rejected ones; only with the absolute schedule and an interval
     * @param hostSteps the decode steps summarized by {@code host_us}, among the newest that the engine keeps: each
     *     [host, not overlapped, waiting] in ns
     * @param rejected requests rejected due to overload
     * @param cachedTokens prompt tokens found in the prefix cache, over all requests
     * @param preemptions number of preemptions
     * @param kv the KV pool
     * @param profile operator times of prefill and decode steps, only with --profile-ops
     */
    public record Run(
            RunSummary summary,
            List<Request> requests,
            @JsonInclude(Include.NON_EMPTY) List<Long> submitLagNanos,
            List<long[]> hostSteps,
            int rejected,
            long cachedTokens,
            long preemptions,
            Kv kv,
            @JsonInclude(Include.NON_EMPTY) List<OperatorSummary> profile) {
        private static Run of(RunResult run, boolean withIds) {
            return new Run(
                    RunSummary.of(run),
                    run.requests().stream()
                            .map(request -> Request.of(request, run.load().startNanos(), withIds))
                            .toList(),
                    run.submitLagNanos(),
                    run.hostTime().steps().stream()
                            .map(step -> new long[] {step.hostNanos(), step.exposedNanos(), step.waitNanos()})
                            .toList(),
                    run.rejected(),
                    run.cachedTokens(),
                    run.after().total(Fact.PREEMPTIONS),
                    new Kv(run.after().kv().blocks(), run.blocksInUseAfter()),
                    OperatorSummary.of(run.profile()));
        }
    }

    /**
     * The KV pool of a run.
     *
     * @param blocksTotal blocks of the pool
     * @param blocksInUseAfter blocks not free after the run: only cached prefixes
     */
    public record Kv(int blocksTotal, int blocksInUseAfter) {}

    /**
     * The metrics of a run.
     *
     * @param latencies by {@link RequestLatency#key}, from {@code add_request_ms} to {@code latency_ms}
     * @param submitLagMillis only with the absolute schedule and an interval
     * @param submitWallS seconds from the start until the last submit call returned
     * @param promptTokens total over the accepted requests
     * @param completionTokens total over the accepted requests
     * @param throughputTokS completion_tokens / (last finish − first submit)
     * @param hostMicros host time per decode step, see {@link HostTime}
     * @param hostExposedMicros time in which the device may be idle: from the previous step's results until the step is submitted
     * @param hostWaitMicros time waiting for the device
     */
    public record RunSummary(
            @JsonAnyGetter @JsonAnySetter Map<String, Summary> latencies,
            @JsonInclude(Include.NON_ABSENT) Optional<Summary> submitLagMillis,
            double submitWallS,
            long promptTokens,
            long completionTokens,
            double throughputTokS,
            Summary hostMicros,
            Summary hostExposedMicros,
            Summary hostWaitMicros) {
        private static RunSummary of(RunResult run) {
            Map<String, Summary> latencies = new LinkedHashMap<>();
            for (RequestLatency latency : RequestLatency.values()) {
                latencies.put(latency.key(), run.millis(latency));
            }
            HostTime host = run.hostTime();
            return new RunSummary(
                    latencies,
                    run.submitLagNanos().isEmpty() ? Optional.empty() : Optional.of(run.submitLagMillis()),
                    run.submitWallNanos() / 1e9,
                    run.promptTokens(),
                    run.completionTokens(),
                    run.tokensPerSecond(),
                    host.hostMicros(),
                    host.exposedMicros(),
                    host.waitMicros());
        }
    }

    /**
     * An accepted request; timestamps are ns since the run's start.
     *
     * @param id index in the workload; rejected requests leave gaps
     * @param promptTokens tokens of the prompt
     * @param cachedTokens prompt tokens found in the prefix cache
     * @param submitStartNanos just before the submit call
     * @param submitEndNanos just after the submit call
     * @param tokenizeNanos when the prompt was tokenized
     * @param admitNanos when its batch was passed to the scheduler for prefill
     * @param tokenNanos when the engine had each token
     * @param finishNanos when the engine finished the request
     * @param finishReason length, stop, cancelled or error
     * @param ids the generated token ids, only with --print-ids
     */
    public record Request(
            int id,
            int promptTokens,
            int cachedTokens,
            long submitStartNanos,
            long submitEndNanos,
            long tokenizeNanos,
            long admitNanos,
            long[] tokenNanos,
            long finishNanos,
            String finishReason,
            @JsonInclude(Include.NON_ABSENT) Optional<int[]> ids) {
        private static Request of(CallResult call, long startNanos, boolean withIds) {
            EngineResponse response = call.engine().orElseThrow();
            RequestTimeline timeline = response.stamps().timeline();
            return new Request(
                    call.id(),
                    call.usage().promptTokens(),
                    call.cachedTokens(),
                    response.stamps().submitStartNanos() - startNanos,
                    response.stamps().submitEndNanos() - startNanos,
                    timeline.tokenizedNanos() - startNanos,
                    timeline.admittedNanos() - startNanos,
                    Arrays.stream(timeline.tokenNanos())
                            .map(nanos -> nanos - startNanos)
                            .toArray(),
                    timeline.finishedNanos() - startNanos,
                    response.finishReason().text(),
                    withIds ? Optional.of(response.ids()) : Optional.empty());
        }

        /** Returns the times of its tokens. */
        public TokenTimes tokenTimes() {
            return TokenTimes.oneByOne(tokenNanos);
        }
    }

    @Override
    public List<Map<String, String>> table() {
        List<Map<String, String>> table = new ArrayList<>();
        for (int run = 0; run < runs.size(); run++) {
            for (Request request : runs.get(run).requests()) {
                Map<String, String> row = new LinkedHashMap<>();
                row.put("run", Integer.toString(run + 1));
                row.put("id", Integer.toString(request.id()));
                row.put("prompt_tokens", Integer.toString(request.promptTokens()));
                TokenTimes tokens = request.tokenTimes();
                row.put("tokens", Integer.toString(tokens.total()));
                CsvReport.times(row, request.submitStartNanos(), request.finishNanos(), tokens);
                table.add(row);
            }
        }
        return table;
    }
}
