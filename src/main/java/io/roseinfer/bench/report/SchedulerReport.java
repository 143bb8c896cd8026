package io.roseinfer.bench.report;

import io.roseinfer.bench.SchedulerBenchmark.Mode;
import io.roseinfer.bench.SchedulerRun;
import io.roseinfer.bench.SchedulerRun.RequestTimes;
import io.roseinfer.metrics.Summary;
import java.util.Formatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Formats the results of {@code roseinfer bench scheduler}. Each run has one value per line, for a latency the median over its requests;
 * p50 and mean are over the runs. A latency without samples, such as TPOT of one-token requests, reads 0.00.
 *
 * <pre>
 * Prefill time, Decode time        time of the steps of each kind, see {@link SchedulerRun}; they add up to the total
 * Throughput(prompt,prefill)       prompt tokens, including cached ones, divided by prefill time
 * Throughput(completion,decode)    tokens generated in decode steps, divided by decode time
 * Throughput(completion,total)     all generated tokens divided by total time
 * Throughput(total,total)          prompt and generated tokens divided by total time
 * TTFT                             from adding a request until the step with its first token returned
 * TPOT                             (finished - first token) / (tokens - 1), including prefills of later requests
 * Latency                          from adding a request until the step that finished it returned
 * </pre>
 */
public final class SchedulerReport {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    /** The metrics of a run, by JSON key. */
    private static final Map<String, ToDoubleFunction<SchedulerRun>> NUMBERS = numbers();

    private SchedulerReport() {}

    private static Map<String, ToDoubleFunction<SchedulerRun>> numbers() {
        Map<String, ToDoubleFunction<SchedulerRun>> numbers = new LinkedHashMap<>();
        numbers.put("prefill_s", run -> run.prefillNanos() / NANOS_PER_SECOND);
        numbers.put("decode_s", run -> run.decodeNanos() / NANOS_PER_SECOND);
        numbers.put("total_s", run -> run.totalNanos() / NANOS_PER_SECOND);
        numbers.put("prefill_tok_s", run -> perSecond(run.promptTokens(), run.prefillNanos()));
        numbers.put("decode_tok_s", run -> perSecond(run.decodedTokens(), run.decodeNanos()));
        numbers.put("completion_tok_s", run -> perSecond(run.completionTokens(), run.totalNanos()));
        numbers.put("total_tok_s", run -> perSecond(run.totalTokens(), run.totalNanos()));
        numbers.put("ttft_ms", run -> medianMillis(run, request -> OptionalDouble.of((double) request.ttftNanos())));
        numbers.put("tpot_ms", run -> medianMillis(run, RequestTimes::tpotNanos));
        numbers.put(
                "latency_ms", run -> medianMillis(run, request -> OptionalDouble.of((double) request.latencyNanos())));
        return numbers;
    }

    /** Returns the median and range of each metric over at least one run. */
    static Map<String, AcrossRuns> overRuns(List<SchedulerRun> runs) {
        Map<String, AcrossRuns> overRuns = new LinkedHashMap<>();
        NUMBERS.forEach((key, number) -> overRuns.put(
                key, AcrossRuns.of(runs.stream().mapToDouble(number).toArray())));
        return overRuns;
    }

    /** Returns the report of at least one run of a mode. Every line ends with a newline. */
    public static String text(Mode mode, int warmups, List<SchedulerRun> runs) {
        Formatter out = new Formatter(Locale.ROOT);
        SchedulerRun first = runs.getFirst();
        out.format("=== %s summary ===\n", mode);
        out.format("Warmup runs: %d\n", warmups);
        out.format("Measured runs: %d\n", runs.size());
        out.format("Requests: %d\n", first.requests().size());
        out.format("Prompt tokens: %d\n", first.promptTokens());
        out.format("Completion tokens: %d\n", first.completionTokens());
        if (mode == Mode.ONLINE) {
            online(out, runs);
        } else {
            throughput(out, runs);
        }
        return out.toString();
    }

    private static void online(Formatter out, List<SchedulerRun> runs) {
        time(out, "Prefill", runs, "prefill_s");
        time(out, "Decode", runs, "decode_s");
        time(out, "Total", runs, "total_s");
        rate(out, "prompt,prefill", runs, "prefill_tok_s");
        rate(out, "completion,decode", runs, "decode_tok_s");
        rate(out, "completion,total", runs, "completion_tok_s");
        latency(out, "TTFT", runs, "ttft_ms", "ms");
        latency(out, "TPOT", runs, "tpot_ms", "ms/token");
        latency(out, "Latency", runs, "latency_ms", "ms");
    }

    private static void throughput(Formatter out, List<SchedulerRun> runs) {
        time(out, "Total", runs, "total_s");
        rate(out, "completion,total", runs, "completion_tok_s");
        rate(out, "total,total", runs, "total_tok_s");
    }

    private static void time(Formatter out, String label, List<SchedulerRun> runs, String key) {
        Summary summary = over(runs, key);
        out.format("%s time p50/mean: %.6f/%.6f s\n", label, summary.p50(), summary.mean());
    }

    private static void rate(Formatter out, String label, List<SchedulerRun> runs, String key) {
        Summary summary = over(runs, key);
        out.format("Throughput(%s) p50/mean: %.2f/%.2f tokens/s\n", label, summary.p50(), summary.mean());
    }

    private static void latency(Formatter out, String label, List<SchedulerRun> runs, String key, String unit) {
        Summary medians = over(runs, key);
        out.format("%s p50/mean: %.2f/%.2f %s\n", label, medians.p50(), medians.mean(), unit);
    }

    /** Returns the median over the requests that have a value; 0 if none has. */
    private static double medianMillis(SchedulerRun run, Function<RequestTimes, OptionalDouble> nanos) {
        double[] all = run.requests().stream()
                .map(nanos)
                .flatMapToDouble(OptionalDouble::stream)
                .toArray();
        return Summary.of(all).p50() / NANOS_PER_MILLI;
    }

    private static Summary over(List<SchedulerRun> runs, String key) {
        ToDoubleFunction<SchedulerRun> number = Objects.requireNonNull(NUMBERS.get(key));
        return Summary.of(runs.stream().mapToDouble(number).toArray());
    }

    private static double perSecond(long tokens, long nanos) {
        return nanos > 0 ? tokens / (nanos / NANOS_PER_SECOND) : 0;
    }
}
