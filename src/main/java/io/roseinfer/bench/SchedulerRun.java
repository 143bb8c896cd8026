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
     * One request. Prefills of requests added later are between its first token and its last.
     *
     * @param promptTokens tokens of its prompt
     * @param completionTokens tokens that it made
     * @param ttftNanos from adding it until the step that made its first token had returned
     * @param latencyNanos from adding it until the step that finished it had returned
     */
    public record RequestTimes(int promptTokens, int completionTokens, long ttftNanos, long latencyNanos) {
        /** Returns the time per output token; empty for fewer than two tokens. */
        public OptionalDouble tpotNanos() {
            return new TokenTimes(new long[] {ttftNanos, latencyNanos}, new int[0], completionTokens).tpotNanos();
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
