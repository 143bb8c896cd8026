package io.roseinfer.server.api;

import io.roseinfer.engine.Completion;
import io.roseinfer.metrics.RequestTimeline;
import tools.jackson.databind.node.ObjectNode;

/**
 * The stages of a completion in two formats: {@code metrics} of vLLM ({@code --enable-per-request-metrics}), and
 * {@code timings} of llama.cpp's server. All are durations in milliseconds.
 */
public final class Timings {
    private Timings() {}

    /** Adds both objects to a response with one completion. A completion without tokens has no stages. */
    public static void add(ObjectNode response, Completion completion) {
        RequestTimeline timeline = completion.timeline();
        long[] tokens = timeline.tokenNanos();
        if (tokens.length == 0) {
            return;
        }
        double queueMillis = millis(timeline.tokenizedNanos(), timeline.admittedNanos());
        double prefillMillis = millis(timeline.admittedNanos(), tokens[0]);
        double decodeMillis = millis(tokens[0], tokens[tokens.length - 1]);
        int gaps = tokens.length - 1;
        response.putObject("metrics")
                .put("queue_time_ms", queueMillis)
                .put("time_to_first_token_ms", prefillMillis)
                .put("generation_time_ms", decodeMillis)
                .put("mean_itl_ms", per(decodeMillis, gaps))
                .put("tokens_per_second", perSecond(tokens.length, prefillMillis + decodeMillis));
        int computed = completion.promptIds().length - completion.cachedTokens();
        response.putObject("timings")
                .put("cache_n", completion.cachedTokens())
                .put("prompt_n", computed)
                .put("prompt_ms", prefillMillis)
                .put("prompt_per_token_ms", per(prefillMillis, computed))
                .put("prompt_per_second", perSecond(computed, prefillMillis))
                .put("predicted_n", tokens.length)
                .put("predicted_ms", decodeMillis)
                .put("predicted_per_token_ms", per(decodeMillis, gaps))
                .put("predicted_per_second", perSecond(gaps, decodeMillis));
    }

    private static double millis(long startNanos, long endNanos) {
        return (endNanos - startNanos) / 1e6;
    }

    /** Divides, with 0 instead of infinity, which JSON does not have. */
    private static double per(double millis, int count) {
        return count == 0 ? 0 : millis / count;
    }

    private static double perSecond(int count, double millis) {
        return millis == 0 ? 0 : count / millis * 1e3;
    }
}
