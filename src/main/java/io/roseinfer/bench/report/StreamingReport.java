package io.roseinfer.bench.report;

import io.roseinfer.bench.RunResult;
import io.roseinfer.metrics.HostTime;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.Summary;
import java.util.Formatter;
import java.util.Locale;

/**
 * The text of {@code roseinfer bench streaming}: a function of a run's results, with the labels, order and formats people
 * parse. Percentiles are over the accepted requests unless a line says otherwise. A metric nobody has a sample of (time per output
 * token of one-token requests) reads 0.00.
 *
 * <pre>
 * Model, Device                    the model as the flag named it; what ran it
 * Pretok                           whether prompts were token ids before the clock started (--pretok)
 * Tokenize workers                 threads that tokenize off the submit call; 0: it does so itself
 * Stream interval                  tokens per delivery to a stream
 * Paged attention                  whether keys and values rest in blocks anywhere in the pool; always on the CPU
 * CUDA Graph, NVTX                 whether decode steps replay CUDA graphs; whether a profiler is told of ranges
 * Requests                         requests that were accepted
 * Rejected                         requests refused as overloaded (--max-inflight-requests); no line where there were none
 * Prompt tokens (total)            tokens of their prompts, those from the prefix cache included
 * Completion tokens (total)        tokens they generated
 * Submit wall                      from the run's start until the last submit call returned
 * Submit interval/schedule         what --submit-interval-ms and --submit-schedule asked for; no line for a burst
 * Submit lag                       how much later than due a request was submitted; with --submit-schedule absolute
 * add_request latency              the submit call, from entering to leaving it
 * Tokenize                         from the end of the submit call until the prompt was token ids; 0 where that call did it, or got ids
 * Queue wait (post-tok)            from then until admitted: the request's batch is handed to the scheduler for prefill
 * Prefill-&gt;first token             from admitted until the engine had the first token
 * TTFT                             time to first token: from entering the submit call until the engine had the first token
 * TPOT                             time per output token: (last - first token) / (tokens - 1), per request with at least two
 * ITL                              inter-token latency: every gap between two tokens of a request, of all requests together
 * Latency                          from entering the submit call until the engine was done with the request
 * Throughput (completion,total)    completion tokens by the total time, from the first submit call to the last ending
 * Host per decode step             p50/p95 over decode steps that follow a decode step: planning, packing, handing over and taking in;
 *                                  of that, not overlapped: from the results of the step before until this one was handed over, 0 where
 *                                  it was handed over before that; and waiting for the device (on the CPU its threads) with nothing
 *                                  else to do. No line where no two decode steps followed one another
 * </pre>
 *
 * <p>The first four latencies of a request add up to its TTFT, but for what a submit call does after tokenizing, which is in
 * add_request and in the queue wait ({@link RequestLatency}).
 */
public final class StreamingReport {
    private final Setup setup;
    private final String interval;

    /**
     * What a report says about how its runs were made.
     *
     * @param model the model as the user named it
     * @param device what ran it, {@code cpu} or {@code cuda}
     * @param pretok whether prompts were token ids before the clock started
     * @param tokenizeWorkers threads that tokenized off the submit path
     * @param streamInterval tokens per delivery
     * @param pagedAttention whether attention read the KV cache through block tables
     * @param cudaGraph whether decode steps were replayed CUDA graphs
     * @param nvtx whether profiler ranges were emitted
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
     * The report of runs.
     *
     * @param interval the time between requests and how it is counted, as in {@code 1.000 ms / absolute}; empty for a burst
     */
    public StreamingReport(Setup setup, String interval) {
        this.setup = setup;
        this.interval = interval;
    }

    /** The line above a warm-up, all that is said of it. */
    public static String warmupBanner(int number, int of) {
        return "=== warmup " + number + "/" + of + " ===\n";
    }

    /** The line above one of several measured runs; nothing for a single one. */
    public static String runBanner(int number, int of) {
        return of > 1 ? "=== run " + number + "/" + of + " ===\n" : "";
    }

    /** The block of one measured run, every line ended by a newline. */
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

    /** Nothing where no two decode steps followed one another. */
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

    /** Python's words: scripts that read the original's output read this one's. */
    private static String yes(boolean value) {
        return value ? "True" : "False";
    }
}
