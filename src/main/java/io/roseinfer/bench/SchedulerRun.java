package io.roseinfer.bench;

import java.util.List;

/**
 * One run of the scheduler benchmark.
 *
 * @param prefillNanos from the start until every request was added; 0 where prefill and decode are not told apart
 * @param decodeNanos from then until the last request had finished
 * @param requests in the order they were added
 */
public record SchedulerRun(long prefillNanos, long decodeNanos, List<RequestTimes> requests) {
    public SchedulerRun {
        requests = List.copyOf(requests);
    }

    /**
     * One request.
     *
     * @param firstNanos the step that made its first token had returned
     * @param finishNanos the step that finished it had returned
     */
    public record RequestTimes(
            int promptTokens, int completionTokens, long submitNanos, long firstNanos, long finishNanos) {

        double ttftNanos() {
            return firstNanos - submitNanos;
        }

        /** Prefills of requests added later are in it: they ran between this request's tokens. */
        double tpotNanos() {
            return (double) (finishNanos - firstNanos) / Math.max(1, completionTokens - 1);
        }

        double latencyNanos() {
            return finishNanos - submitNanos;
        }
    }

    long totalNanos() {
        return prefillNanos + decodeNanos;
    }

    long promptTokens() {
        return requests.stream().mapToLong(RequestTimes::promptTokens).sum();
    }

    /** Tokens of decode steps: all but each request's first, which its prefill made. */
    long decodedTokens() {
        return requests.stream()
                .mapToLong(request -> Math.max(0, request.completionTokens() - 1))
                .sum();
    }

    long completionTokens() {
        return requests.stream().mapToLong(RequestTimes::completionTokens).sum();
    }

    long totalTokens() {
        return promptTokens() + completionTokens();
    }
}
