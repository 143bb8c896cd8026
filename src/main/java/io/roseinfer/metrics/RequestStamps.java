package io.roseinfer.metrics;

import java.util.List;
import java.util.LongSummaryStatistics;

/**
 * All stamps of one request: those of the thread that submitted it around those of the engine, all of one clock.
 *
 * @param submitStartNanos just before the submit call
 * @param submitEndNanos just after it returned
 * @param timeline what the engine recorded
 */
public record RequestStamps(long submitStartNanos, long submitEndNanos, RequestTimeline timeline) {
    private static final double NANOS_PER_SECOND = 1e9;

    /** When the first token was there; when the request ended, if it made none. */
    public long firstTokenNanos() {
        long[] tokens = timeline.tokenNanos();
        return tokens.length == 0 ? timeline.finishedNanos() : tokens[0];
    }

    /** Returns the throughput of many requests: generated tokens / (last finish − first submit); 0 without tokens. */
    public static double tokensPerSecond(List<RequestStamps> requests) {
        LongSummaryStatistics starts =
                requests.stream().mapToLong(RequestStamps::submitStartNanos).summaryStatistics();
        LongSummaryStatistics ends = requests.stream()
                .mapToLong(request -> request.timeline().finishedNanos())
                .summaryStatistics();
        long tokens = requests.stream().mapToLong(RequestStamps::tokens).sum();
        return tokens > 0 && ends.getMax() > starts.getMin()
                ? tokens / ((ends.getMax() - starts.getMin()) / NANOS_PER_SECOND)
                : 0;
    }

    /** Number of generated tokens. */
    public int tokens() {
        return timeline.tokenNanos().length;
    }
}
