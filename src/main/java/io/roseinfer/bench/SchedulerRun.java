package io.roseinfer.bench;

import io.roseinfer.metrics.TokenTimes;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The result of one run of the scheduler benchmark. A step with prompt tokens counts as prefill, even if it also decodes (chunked
 * prefill, recomputation after preemption); other steps count as decode.
 *
 * @param prefillNanos time of the prefill steps, each from the end of the previous step, so that both kinds add up to the run
 * @param decodeNanos time of the decode steps, measured in the same way
 * @param decodedTokens tokens generated in decode steps
 * @param requests the requests in the order they were added
 */
public record SchedulerRun(long prefillNanos, long decodeNanos, long decodedTokens, List<RequestTimes> requests) {
    public SchedulerRun {
        requests = List.copyOf(requests);
    }

    /**
     * The times of one request. Prefills of later requests may fall between its first and last token.
     *
     * @param promptTokens tokens of its prompt
     * @param completionTokens generated tokens
     * @param ttftNanos time from adding the request until the step with its first token returned
     * @param latencyNanos time from adding the request until the step that finished it returned
     */
    public record RequestTimes(int promptTokens, int completionTokens, long ttftNanos, long latencyNanos) {
        /** Returns the time per output token; empty for fewer than two tokens. */
        public OptionalDouble tpotNanos() {
            return new TokenTimes(new long[] {ttftNanos, latencyNanos}, new int[0], completionTokens).tpotNanos();
        }
    }

    /** Returns the time of all steps. */
    public long totalNanos() {
        return prefillNanos + decodeNanos;
    }

    /** Returns the tokens of all prompts. */
    public long promptTokens() {
        return requests.stream().mapToLong(RequestTimes::promptTokens).sum();
    }

    /** Returns the tokens of all completions. */
    public long completionTokens() {
        return requests.stream().mapToLong(RequestTimes::completionTokens).sum();
    }

    /** Returns the tokens of prompts and completions. */
    public long totalTokens() {
        return promptTokens() + completionTokens();
    }
}
