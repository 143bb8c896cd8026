package io.roseinfer.bench.report;

import io.roseinfer.bench.RequestResult;
import io.roseinfer.bench.RunResult;
import io.roseinfer.metrics.HostTime;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.RequestTimeline;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The results of {@code bench streaming} as JSON, complete enough to recompute every printed number.
 *
 * <pre>
 * schema                       1; a change that breaks readers raises it
 * settings                     every flag by its long name with underscores, with the value in force: that of the loaded model
 *                              where a flag leaves the choice open. null is "no limit", or that there is no such thing (dtype
 *                              on sim, threads anywhere but on cpu)
 * environment
 *   jdk                        version and virtual machine
 *   cpu                        the processor's name, or null
 *   vector_bits                width of the CPU kernels' vectors, or null for scalar kernels
 *   gpu                        the GPU it ran on, or null where it ran on none
 *   driver                     version of the NVIDIA driver, or null
 *   commit                     of the running checkout, or null
 *   warm_up_ns                 how long the model was warmed up when it was loaded
 * over_runs                    the runs below summarized: for every metric of their summary with percentiles {p50, p95, p99}, and for
 *                              throughput_tok_s, {median, min, max} of the runs' own values; see {@link RunsReport}
 * runs[]                       the measured runs in order, warm-ups left out; those that were over when the file was written
 *   summary
 *     add_request_ms … latency_ms, submit_lag_ms
 *                              {count, p50, p95, p99, mean, max} in milliseconds, null where count is 0;
 *                              definitions: {@link RequestLatency}.
 *                              submit_lag_ms only with the absolute schedule and an interval
 *     submit_wall_s            seconds from the start until the last submit call returned
 *     prompt_tokens, completion_tokens
 *                              totals over accepted requests
 *     throughput_tok_s         completion_tokens / (last finish − first submit)
 *     host_us, host_exposed_us, host_wait_us
 *                              {count, p50, …} in microseconds: what a decode step costs the host, what of that is not
 *                              overlapped, and waiting for the device; definitions: {@link io.roseinfer.metrics.HostTime}
 *   requests[]                 the accepted requests in the order they were submitted; stamps are ns since the run's start
 *     id                       index in the workload; rejected requests leave gaps
 *     prompt_tokens            tokens of the prompt
 *     cached_tokens            those of them found in the prefix cache instead of computed
 *     submit_start_ns, submit_end_ns
 *                              around the submit call
 *     tokenize_ns              the prompt was token ids
 *     admit_ns                 its batch was handed to the scheduler for prefill
 *     token_ns[]               each token, when the engine had it
 *     finish_ns                the engine was done with it
 *     finish_reason            length, stop, cancelled or error
 *     ids[]                    the generated tokens, with --print-ids only
 *   submit_lag_ns[]            how late each request was submitted, rejected ones included; only with submit_lag_ms
 *   host_steps[]               the decode steps that host_us summarizes, of the newest that the engine remembers: each
 *                              [host, not overlapped, waiting] in ns
 *   rejected                   requests refused as overloaded
 *   cached_tokens              prompt tokens found in the prefix cache, the requests' sum
 *   preemptions                times a request had to give its KV blocks back and start over
 *   kv
 *     blocks_total             blocks of the pool
 *     blocks_in_use_after      blocks not free when the run was over: cached prefixes alone
 *   profile[]                  with --profile-ops only: prefill and decode steps, if there were any
 *     kind                     prefill (some row computes more than one token) or decode
 *     rows, tokens             per step, means
 *     step_us, sum_us          {count, p50, p95, p99, mean, max} in microseconds: a step, timed around it, and its operators' sum
 *     operators[]              in the order they run; their means add up to that of sum_us
 *       name                   in lower case, see {@link io.roseinfer.backend.Operator}
 *       calls                  per step, mean
 *       time_us                per step, as step_us
 *       share                  of all steps' time, 0 to 1
 *       gb_s, gflop_s          10⁹ bytes read and operations per second of its time, or null where that says nothing
 * </pre>
 */
public final class JsonReport {
    private static final int SCHEMA = 1;

    private final boolean withIds;

    /**
     * @param withIds whether requests carry the tokens they made
     */
    public JsonReport(boolean withIds) {
        this.withIds = withIds;
    }

    public ObjectNode of(Map<String, ?> settings, Environment environment, List<RunResult> runs) {
        ObjectNode root = JsonParts.document(SCHEMA, settings, environment);
        root.set("over_runs", RunsReport.json(runs));
        ArrayNode array = root.putArray("runs");
        runs.forEach(run -> array.add(run(run)));
        return root;
    }

    private ObjectNode run(RunResult run) {
        ObjectNode node = JsonParts.object();
        node.set("summary", summary(run));
        ArrayNode requests = node.putArray("requests");
        run.requests().forEach(request -> requests.add(request(request, run.startNanos())));
        if (!run.submitLagNanos().isEmpty()) {
            ArrayNode lag = node.putArray("submit_lag_ns");
            run.submitLagNanos().forEach(lag::add);
        }
        ArrayNode hostSteps = node.putArray("host_steps");
        run.hostTime()
                .steps()
                .forEach(step -> hostSteps
                        .addArray()
                        .add(step.hostNanos())
                        .add(step.exposedNanos())
                        .add(step.waitNanos()));
        node.put("rejected", run.rejected())
                .put("cached_tokens", run.cachedTokens())
                .put("preemptions", run.after().preemptions());
        node.putObject("kv")
                .put("blocks_total", run.after().kv().blocks())
                .put("blocks_in_use_after", run.blocksInUseAfter());
        if (!run.profile().isEmpty()) {
            ArrayNode profile = node.putArray("profile");
            OperatorSummary.of(run.profile()).forEach(summary -> profile.add(profile(summary)));
        }
        return node;
    }

    private ObjectNode profile(OperatorSummary steps) {
        ObjectNode node = JsonParts.object()
                .put("kind", OperatorReport.word(steps.kind()))
                .put("rows", steps.meanRows())
                .put("tokens", steps.meanTokens());
        node.set("step_us", JsonParts.summary(steps.stepMicros()));
        node.set("sum_us", JsonParts.summary(steps.sumMicros()));
        ArrayNode operators = node.putArray("operators");
        steps.operators().forEach(time -> operators.add(operator(time)));
        return node;
    }

    private ObjectNode operator(OperatorSummary.OperatorTime time) {
        ObjectNode node = JsonParts.object()
                .put("name", OperatorReport.word(time.operator()))
                .put("calls", time.callsPerStep());
        node.set("time_us", JsonParts.summary(time.micros()));
        node.put("share", time.share());
        return rate(rate(node, "gb_s", time.gigabytesPerSecond()), "gflop_s", time.gigaflops());
    }

    private static ObjectNode rate(ObjectNode node, String name, double rate) {
        return rate > 0 ? node.put(name, rate) : node.putNull(name);
    }

    private ObjectNode summary(RunResult run) {
        ObjectNode node = JsonParts.object();
        for (RequestLatency latency : RequestLatency.values()) {
            node.set(latency.key(), JsonParts.summary(run.millis(latency)));
        }
        if (!run.submitLagNanos().isEmpty()) {
            node.set("submit_lag_ms", JsonParts.summary(run.submitLagMillis()));
        }
        node.put("submit_wall_s", run.submitWallNanos() / 1e9)
                .put("prompt_tokens", run.promptTokens())
                .put("completion_tokens", run.completionTokens())
                .put("throughput_tok_s", run.tokensPerSecond());
        HostTime host = run.hostTime();
        node.set("host_us", JsonParts.summary(host.hostMicros()));
        node.set("host_exposed_us", JsonParts.summary(host.exposedMicros()));
        node.set("host_wait_us", JsonParts.summary(host.waitMicros()));
        return node;
    }

    private ObjectNode request(RequestResult request, long startNanos) {
        RequestTimeline timeline = request.stamps().timeline();
        ObjectNode node = JsonParts.object()
                .put("id", request.id())
                .put("prompt_tokens", request.promptTokens())
                .put("cached_tokens", request.cachedTokens())
                .put("submit_start_ns", request.stamps().submitStartNanos() - startNanos)
                .put("submit_end_ns", request.stamps().submitEndNanos() - startNanos)
                .put("tokenize_ns", timeline.tokenizedNanos() - startNanos)
                .put("admit_ns", timeline.admittedNanos() - startNanos);
        ArrayNode tokens = node.putArray("token_ns");
        for (long nanos : timeline.tokenNanos()) {
            tokens.add(nanos - startNanos);
        }
        node.put("finish_ns", timeline.finishedNanos() - startNanos)
                .put("finish_reason", request.finishReason().text());
        if (withIds) {
            ArrayNode ids = node.putArray("ids");
            request.ids().forEach(ids::add);
        }
        return node;
    }
}
