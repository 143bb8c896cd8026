package io.roseinfer.metrics;

import java.util.OptionalDouble;

/**
 * What one request's stamps say, in nanoseconds.
 *
 * <p>Where the stamps are in order, the parts add up: {@code tokenize + queueWait + prefill = ttft − addRequest}. Tokenizing
 * inside the submit call ends before that call returns; {@code tokenize} is then clamped to zero and the sum is larger by
 * exactly what was clamped.
 *
 * @param addRequestNanos submit_end − submit_start
 * @param tokenizeNanos tokenized − submit_end, at least 0; so 0 when the submit call did it, or got token ids
 * @param queueWaitNanos admitted − tokenized, at least 0
 * @param prefillNanos first token − admitted
 * @param ttftNanos first token − submit_start
 * @param tpotNanos (last − first token) / (tokens − 1); empty for fewer than two tokens
 * @param latencyNanos finished − submit_start
 */
public record RequestMetrics(
        long addRequestNanos,
        long tokenizeNanos,
        long queueWaitNanos,
        long prefillNanos,
        long ttftNanos,
        OptionalDouble tpotNanos,
        long latencyNanos) {

    public static RequestMetrics of(RequestStamps stamps) {
        RequestTimeline timeline = stamps.timeline();
        long firstToken = stamps.firstTokenNanos();
        return new RequestMetrics(
                stamps.submitEndNanos() - stamps.submitStartNanos(),
                Math.max(0, timeline.tokenizedNanos() - stamps.submitEndNanos()),
                Math.max(0, timeline.admittedNanos() - timeline.tokenizedNanos()),
                firstToken - timeline.admittedNanos(),
                firstToken - stamps.submitStartNanos(),
                timePerOutputToken(timeline.tokenNanos()),
                timeline.finishedNanos() - stamps.submitStartNanos());
    }

    private static OptionalDouble timePerOutputToken(long[] tokenNanos) {
        int gaps = tokenNanos.length - 1;
        return gaps < 1
                ? OptionalDouble.empty()
                : OptionalDouble.of((double) (tokenNanos[gaps] - tokenNanos[0]) / gaps);
    }
}
