package io.roseinfer.bench.report;

import io.roseinfer.bench.SchedulerBenchmark.Mode;
import io.roseinfer.bench.SchedulerRun;
import io.roseinfer.bench.SchedulerRun.RequestTimes;
import io.roseinfer.metrics.Summary;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * The text of {@code roseinfer bench scheduler}: a function of its runs. Each run yields one number per line, its median over
 * requests for a latency; p50 and mean are those of the runs. A latency that no request has (time per output token of one-token
 * requests) reads 0.00.
 *
 * <pre>
 * Prefill time, Decode time        of the steps of either kind, see {@link SchedulerRun}; together the total
 * Throughput(prompt,prefill)       prompt tokens, cached ones included, by prefill time
 * Throughput(completion,decode)    tokens generated in decode steps, by decode time
 * Throughput(completion,total)     all generated tokens by the total time
 * </pre>
 */
public final class SchedulerReport {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private SchedulerReport() {}

    /** The block of one mode, every line ended by a newline; at least one run. */
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
        time(out, "Prefill", runs, SchedulerRun::prefillNanos);
        time(out, "Decode", runs, SchedulerRun::decodeNanos);
        time(out, "Total", runs, SchedulerRun::totalNanos);
        rate(out, "prompt,prefill", runs, run -> perSecond(run.promptTokens(), run.prefillNanos()));
        rate(out, "completion,decode", runs, run -> perSecond(run.decodedTokens(), run.decodeNanos()));
        rate(out, "completion,total", runs, run -> perSecond(run.completionTokens(), run.totalNanos()));
        latency(out, "TTFT", runs, request -> OptionalDouble.of(request.ttftNanos()), "ms");
        latency(out, "TPOT", runs, RequestTimes::tpotNanos, "ms/token");
        latency(out, "Latency", runs, request -> OptionalDouble.of(request.latencyNanos()), "ms");
    }

    private static void throughput(Formatter out, List<SchedulerRun> runs) {
        time(out, "Total", runs, SchedulerRun::totalNanos);
        rate(out, "completion,total", runs, run -> perSecond(run.completionTokens(), run.totalNanos()));
        rate(out, "total,total", runs, run -> perSecond(run.totalTokens(), run.totalNanos()));
    }

    private static void time(
            Formatter out, String label, List<SchedulerRun> runs, ToDoubleFunction<SchedulerRun> nanos) {
        Summary summary = over(runs, run -> nanos.applyAsDouble(run) / NANOS_PER_SECOND);
        out.format("%s time p50/mean: %.6f/%.6f s\n", label, summary.p50(), summary.mean());
    }

    private static void rate(
            Formatter out, String label, List<SchedulerRun> runs, ToDoubleFunction<SchedulerRun> rate) {
        Summary summary = over(runs, rate);
        out.format("Throughput(%s) p50/mean: %.2f/%.2f tokens/s\n", label, summary.p50(), summary.mean());
    }

    private static void latency(
            Formatter out,
            String label,
            List<SchedulerRun> runs,
            Function<RequestTimes, OptionalDouble> nanos,
            String unit) {
        Summary medians = over(runs, run -> median(run, nanos) / NANOS_PER_MILLI);
        out.format("%s p50/mean: %.2f/%.2f %s\n", label, medians.p50(), medians.mean(), unit);
    }

    /** Over the requests that have the value; 0 where none has. */
    private static double median(SchedulerRun run, Function<RequestTimes, OptionalDouble> value) {
        return Summary.of(run.requests().stream()
                        .map(value)
                        .flatMapToDouble(OptionalDouble::stream)
                        .toArray())
                .p50();
    }

    private static Summary over(List<SchedulerRun> runs, ToDoubleFunction<SchedulerRun> value) {
        return Summary.of(runs.stream().mapToDouble(value).toArray());
    }

    private static double perSecond(long tokens, long nanos) {
        return nanos > 0 ? tokens / (nanos / NANOS_PER_SECOND) : 0;
    }
}
