package io.roseinfer.metrics;

import java.util.List;
import java.util.LongSummaryStatistics;

/**
 * All timestamps of one request, by one clock, taken by the submitting thread and the engine.
 *
 * @param submitStartNanos just before the submit call
 * @param submitEndNanos just after it returned
 * @param timeline the timestamps recorded by the engine
 */
public record RequestStamps(long submitStartNanos, long submitEndNanos, RequestTimeline timeline) {
    private static final double NANOS_PER_SECOND = 1e9;

    /** Returns the time of the first token, or the end of the request if it generated none. */
    public long firstTokenNanos() {
        return timeline.firstTokenNanos();
    }

    /** Returns the throughput of all requests: generated tokens / (last finish − first submit); 0 without tokens. */
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

    /** Returns the number of generated tokens. */
    public int tokens() {
        return timeline.tokens();
    }
}
