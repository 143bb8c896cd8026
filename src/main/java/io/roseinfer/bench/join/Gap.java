package io.roseinfer.bench.join;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The time between two tokens of a request, and what it was spent on.
 *
 * @param request its id
 * @param token which token of the request, from 1, ended it
 * @param nanos how long the client waited
 * @param waitedFor the longest step that ended in it
 * @param parts nanoseconds by name: {@code decode} and {@code prompts}, the steps that only decoded and those with prompt tokens;
 *     {@code between}, the engine outside of steps; {@code delivery}, how much later than the engine the client had this token than the one
 *     before, which may be less than nothing
 */
public record Gap(int request, int token, double nanos, StepRecord waitedFor, Map<String, Double> parts) {
    /** The names of the parts, in their order. */
    public static final List<String> PARTS = List.of("decode", "prompts", "between", "delivery");

    /** The gaps of a request, those whose step is known. */
    public static List<Gap> of(CallResult call, Steps steps) {
        List<Long> seen = call.arrivals().nanos();
        List<Long> had = call.server().map(ServerStamps::tokenNanos).orElse(List.of());
        int engine = call.server().map(stamps -> stamps.served().engine()).orElse(0);
        List<Gap> gaps = new ArrayList<>();
        for (int token = 1; token < seen.size() && seen.size() == had.size(); token++) {
            List<StepRecord> between = steps.between(engine, had.get(token - 1), had.get(token));
            if (!between.isEmpty()) {
                gaps.add(gap(call.id(), token, seen.get(token) - seen.get(token - 1), had, between));
            }
        }
        return gaps;
    }

    private static Gap gap(int request, int token, long seenNanos, List<Long> had, List<StepRecord> steps) {
        long engine = had.get(token) - had.get(token - 1);
        double decode = 0;
        double prompts = 0;
        long before = had.get(token - 1);
        StepRecord longest = steps.getFirst();
        for (StepRecord step : steps) {
            long nanos = step.endNanos() - Math.max(before, step.get(Fact.START_NANOS));
            before = step.endNanos();
            decode += step.get(Fact.PREFILL_TOKENS) == 0 ? nanos : 0;
            prompts += step.get(Fact.PREFILL_TOKENS) == 0 ? 0 : nanos;
            longest = length(step) > length(longest) ? step : longest;
        }
        return new Gap(
                request,
                token,
                seenNanos,
                longest,
                Map.of("decode", decode, "prompts", prompts, "between", engine - decode - prompts, "delivery", (double)
                        (seenNanos - engine)));
    }

    private static long length(StepRecord step) {
        return step.endNanos() - step.get(Fact.START_NANOS);
    }
}
