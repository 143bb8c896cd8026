package io.roseinfer.bench.report;

import io.roseinfer.bench.RunResult;
import io.roseinfer.metrics.HostTime;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.Summary;
import java.util.Formatter;
import java.util.Locale;

/**
 * Formats the results of {@code roseinfer bench streaming}, with stable labels, order and formats for scripts. Percentiles are over the
 * accepted requests unless a line says otherwise. A metric without samples, such as TPOT of one-token requests, reads 0.00.
 *
 * <pre>
 * Model, Device                    value of --model; the device
 * Pretok                           whether prompts were tokenized before the clock started (--pretok)
 * Tokenize workers                 tokenizer threads; 0: the submit call tokenizes
 * Stream interval                  tokens per stream delivery
 * Paged attention                  whether the KV cache is paged; always on the CPU
 * CUDA Graph, NVTX                 whether decode steps replay CUDA graphs; whether NVTX ranges are emitted
 * Requests                         accepted requests
 * Rejected                         requests rejected due to overload (--max-inflight-requests); omitted if zero
 * Prompt tokens (total)            prompt tokens of the accepted requests, including cached ones
 * Completion tokens (total)        generated tokens
 * Submit wall                      from the start of the run until the last submit call returned
 * Submit interval/schedule         --submit-interval-ms and --submit-schedule; omitted for a burst
 * Submit lag                       submit time minus scheduled time of a request; only with --submit-schedule absolute
 * add_request latency              duration of the submit call
 * Tokenize                         from the end of the submit call until the prompt was tokenized; 0 if the call did it, or got token ids
 * Queue wait (post-tok)            from then until admission: the request's batch is passed to the scheduler for prefill
 * Prefill-&gt;first token             from admission until the engine had the first token
 * TTFT                             time to first token: from the start of the submit call until the engine had the first token
 * TPOT                             time per output token: (last - first token) / (tokens - 1), per request with at least two
 * ITL                              inter-token latency: all gaps between two tokens of a request, pooled over requests
 * Latency                          from the start of the submit call until the engine finished the request
 * Throughput (completion,total)    completion tokens divided by the time from the first submit call to the last finish
 * Host per decode step             p50/p95 over decode steps that follow a decode step: time of planning, packing, submitting and applying;
 *                                  not overlapped: from the previous step's results until this step was submitted, 0 if it was
 *                                  submitted earlier; and idle waiting for the device (on the CPU for its threads). Omitted if no two
 *                                  decode steps followed one another
 * </pre>
 *
 * <p>The first four latencies of a request add up to its TTFT, except that work of the submit call after tokenizing is included in both
 * add_request and the queue wait ({@link RequestLatency}).
 */
public final class StreamingReport {
    private final Setup setup;
    private final String interval;

    /**
     * The settings in a report.
     *
     * @param model value of {@code --model}
     * @param device the device, such as {@code cpu} or {@code cuda}
     * @param pretok whether prompts were tokenized before the clock started
     * @param tokenizeWorkers tokenizer threads
     * @param streamInterval tokens per delivery
     * @param pagedAttention whether the KV cache is paged
     * @param cudaGraph whether decode steps replay CUDA graphs
     * @param nvtx whether NVTX ranges are emitted
     */
    public record Setup(
            String model,
            String device,
            boolean pretok,
            int tokenizeWorkers,
            int streamInterval,
            boolean pagedAttention,
            boolean cudaGraph,
            boolean nvtx) {}

    /**
     * Creates a report.
     *
     * @param interval interval and schedule of requests, as in {@code 1.000 ms / absolute}; empty for a burst
     */
    public StreamingReport(Setup setup, String interval) {
        this.setup = setup;
        this.interval = interval;
    }

    /** Returns the only line of a warm-up run. */
    public static String warmupBanner(int number, int of) {
        return "=== warmup " + number + "/" + of + " ===\n";
    }

    /** Returns the line above one of several measured runs; empty for a single run. */
    public static String runBanner(int number, int of) {
        return of > 1 ? "=== run " + number + "/" + of + " ===\n" : "";
    }

    /** Returns the report of one measured run. Every line ends with a newline. */
    public String text(RunResult run) {
        Formatter out = new Formatter(Locale.ROOT);
        head(out);
        counts(out, run);
        submitting(out, run);
        for (RequestLatency latency : RequestLatency.values()) {
            percentiles(out, latency.label(), run.millis(latency), latency.unit());
        }
        out.format("Throughput (completion,total): %.2f tokens/s\n", run.tokensPerSecond());
        host(out, run.hostTime());
        return out.toString();
    }

    private void head(Formatter out) {
        out.format("=== streaming benchmark ===\n");
        out.format("Model: %s\n", setup.model());
        out.format("Device: %s\n", setup.device());
        out.format("Pretok: %s\n", yes(setup.pretok()));
        out.format("Tokenize workers: %d\n", setup.tokenizeWorkers());
        out.format("Stream interval: %d\n", setup.streamInterval());
        out.format("Paged attention: %s\n", yes(setup.pagedAttention()));
        out.format("CUDA Graph: %s\n", yes(setup.cudaGraph()));
        out.format("NVTX: %s\n", yes(setup.nvtx()));
    }

    private static void counts(Formatter out, RunResult run) {
        out.format("Requests: %d\n", run.requests().size());
        if (run.rejected() > 0) {
            out.format("Rejected: %d\n", run.rejected());
        }
        out.format("Prompt tokens (total): %d\n", run.promptTokens());
        out.format("Completion tokens (total): %d\n", run.completionTokens());
    }

    private void submitting(Formatter out, RunResult run) {
        out.format("Submit wall: %.6f s\n", run.submitWallNanos() / 1e9);
        if (!interval.isEmpty()) {
            out.format("Submit interval/schedule: %s\n", interval);
        }
        if (run.load().isScheduled()) {
            percentiles(out, "Submit lag", run.submitLagMillis(), "ms");
        }
    }

    /** Prints nothing if no two decode steps followed one another. */
    private static void host(Formatter out, HostTime time) {
        if (time.hostMicros().count() > 0) {
            out.format(
                    "Host per decode step p50/p95: %.1f/%.1f us, not overlapped %.1f/%.1f us, waiting for the device %.1f/%.1f us\n",
                    time.hostMicros().p50(),
                    time.hostMicros().p95(),
                    time.exposedMicros().p50(),
                    time.exposedMicros().p95(),
                    time.waitMicros().p50(),
                    time.waitMicros().p95());
        }
    }

    private static void percentiles(Formatter out, String label, Summary summary, String unit) {
        out.format("%s p50/p95/p99: %.2f/%.2f/%.2f %s\n", label, summary.p50(), summary.p95(), summary.p99(), unit);
    }

    /** Returns Python's words, for compatibility with scripts that parse the original's output. */
    private static String yes(boolean value) {
        return value ? "True" : "False";
    }
}
