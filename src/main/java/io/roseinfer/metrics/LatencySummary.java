package io.roseinfer.metrics;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * The metrics of many requests together, in milliseconds, one {@link Summary} each; {@link RequestMetrics} defines them.
 *
 * @param interTokenMillis every gap between two consecutive tokens of a request, all requests pooled
 */
public record LatencySummary(
        Summary addRequestMillis,
        Summary tokenizeMillis,
        Summary queueWaitMillis,
        Summary prefillMillis,
        Summary ttftMillis,
        Summary tpotMillis,
        Summary interTokenMillis,
        Summary latencyMillis) {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    public static LatencySummary of(List<RequestStamps> requests) {
        List<RequestMetrics> metrics = requests.stream().map(RequestMetrics::of).toList();
        return new LatencySummary(
                millis(metrics, RequestMetrics::addRequestNanos),
                millis(metrics, RequestMetrics::tokenizeNanos),
                millis(metrics, RequestMetrics::queueWaitNanos),
                millis(metrics, RequestMetrics::prefillNanos),
                millis(metrics, RequestMetrics::ttftNanos),
                millis(metrics.stream()
                        .flatMapToDouble(request -> request.tpotNanos().stream())
                        .toArray()),
                millis(gaps(requests)),
                millis(metrics, RequestMetrics::latencyNanos));
    }

    /** A sample of nanoseconds, summarized in milliseconds. */
    public static Summary millis(double... nanos) {
        return Summary.of(
                Arrays.stream(nanos).map(value -> value / NANOS_PER_MILLI).toArray());
    }

    private static Summary millis(List<RequestMetrics> metrics, ToLongFunction<RequestMetrics> part) {
        return millis(metrics.stream().mapToLong(part).asDoubleStream().toArray());
    }

    private static double[] gaps(List<RequestStamps> requests) {
        return requests.stream()
                .map(request -> request.timeline().tokenNanos())
                .flatMapToDouble(LatencySummary::gaps)
                .toArray();
    }

    private static DoubleStream gaps(long[] tokenNanos) {
        return IntStream.range(1, tokenNanos.length).mapToDouble(token -> tokenNanos[token] - tokenNanos[token - 1]);
    }

    /** Throughput: generated tokens / (last finish − first submit); 0 without tokens. */
    public static double tokensPerSecond(List<RequestStamps> requests) {
        long tokens = requests.stream().mapToLong(RequestStamps::tokens).sum();
        if (tokens == 0) {
            return 0;
        }
        long start = requests.stream()
                .mapToLong(RequestStamps::submitStartNanos)
                .min()
                .orElseThrow();
        long end = requests.stream()
                .mapToLong(request -> request.timeline().finishedNanos())
                .max()
                .orElseThrow();
        return end > start ? tokens / ((end - start) / NANOS_PER_SECOND) : 0;
    }
}
