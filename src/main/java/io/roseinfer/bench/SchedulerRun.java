package io.roseinfer.bench;

import io.roseinfer.metrics.TokenTimes;
import java.util.List;
import java.util.OptionalDouble;

/**
 * One run of the scheduler benchmark. Every step counts as one kind: with prompt tokens in it as prefill, together with whatever
 * it decodes (a step of chunked prefill, a request that starts over), otherwise as decode.
 *
 * @param prefillNanos time of the prefill steps, each from the end of the step before it, so that the two kinds add up to the run
 * @param decodeNanos time of the decode steps, likewise
 * @param decodedTokens generated in decode steps
 * @param requests in the order they were added
 */
public record SchedulerRun(long prefillNanos, long decodeNanos, long decodedTokens, List<RequestTimes> requests) {
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

        /** Returns when the first and the last token came. Prefills of requests added later are between them. */
        private TokenTimes tokenTimes() {
            return new TokenTimes(new long[] {firstNanos, finishNanos}, new int[0], completionTokens);
        }

        /** Returns the time to first token. */
        public OptionalDouble ttftNanos() {
            return tokenTimes().ttftNanos(submitNanos);
        }

        /** Returns the time per output token; empty for fewer than two tokens. */
        public OptionalDouble tpotNanos() {
            return tokenTimes().tpotNanos();
        }

        /** Returns the time to the last token. */
        public OptionalDouble latencyNanos() {
            return OptionalDouble.of((double) (finishNanos - submitNanos));
        }
    }

    /** Time of all steps. */
    public long totalNanos() {
        return prefillNanos + decodeNanos;
    }

    /** Tokens of all prompts. */
    public long promptTokens() {
        return requests.stream().mapToLong(RequestTimes::promptTokens).sum();
    }

    /** Tokens of all completions. */
    public long completionTokens() {
        return requests.stream().mapToLong(RequestTimes::completionTokens).sum();
    }

    /** Tokens of prompts and completions. */
    public long totalTokens() {
        return promptTokens() + completionTokens();
    }
}
