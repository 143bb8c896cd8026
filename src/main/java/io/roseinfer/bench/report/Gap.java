package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The time between two events of a request that brought tokens, by the client's timestamps, and its breakdown if the engine's steps are known.
 *
 * @param request its id
 * @param token index of the first token of the event that ended it; the request's first token has index 0
 * @param nanos how long the client waited
 * @param waitedFor the longest step that ended in it; empty if its steps are not known
 * @param stepNanos the time of that step by itself, without what it waited on the device for the step before it
 * @param parts nanoseconds by name, empty if its steps are not known: {@code decode} and {@code prompts}, the steps that only decoded and
 *     those with prompt tokens; {@code between}, the engine outside of steps; {@code delivery}, how much later than the engine the client
 *     had this token than the one before, which may be negative. A decode step that waited on the device for a step with prompt tokens
 *     has only the time after it
 */
record Gap(
        int request,
        int token,
        double nanos,
        Optional<StepRecord> waitedFor,
        double stepNanos,
        Map<String, Double> parts) {
    /** The names of the parts, in their order. */
    static final List<String> PARTS = List.of("decode", "prompts", "between", "delivery");

    /** Returns all gaps of a request. */
    static List<Gap> of(CallResult call, Steps steps) {
        List<Long> seen = call.arrivals().nanos();
        List<Long> had = call.server().map(ServerStamps::tokenNanos).orElse(List.of());
        int engine = call.server().map(stamps -> stamps.served().engine()).orElse(0);
        List<Gap> gaps = new ArrayList<>();
        int token = 0;
        for (int event = 1; event < seen.size(); event++) {
            token += call.arrivals().tokens().isEmpty()
                    ? 1
                    : call.arrivals().tokens().get(event - 1);
            long nanos = seen.get(event) - seen.get(event - 1);
            List<StepRecord> between = seen.size() == had.size()
                            && steps.before(engine, had.get(event - 1)).isPresent()
                    ? steps.between(engine, had.get(event - 1), had.get(event))
                    : List.of();
            gaps.add(
                    between.isEmpty()
                            ? new Gap(call.id(), token, nanos, Optional.empty(), 0, Map.of())
                            : gap(call.id(), token, nanos, had.subList(event - 1, event + 1), between, steps));
        }
        return gaps;
    }

    private static Gap gap(int request, int token, long seenNanos, List<Long> had, List<StepRecord> steps, Steps all) {
        long engine = had.getLast() - had.getFirst();
        double decode = 0;
        double prompts = 0;
        long before = had.getFirst();
        StepRecord longest = steps.getFirst();
        for (StepRecord step : steps) {
            long nanos = step.endNanos() - Math.max(before, step.get(Fact.START_NANOS));
            before = step.endNanos();
            decode += step.get(Fact.PREFILL_TOKENS) == 0 ? nanos : 0;
            prompts += step.get(Fact.PREFILL_TOKENS) == 0 ? 0 : nanos;
            longest = all.nanos(step) > all.nanos(longest) ? step : longest;
        }
        return new Gap(
                request,
                token,
                seenNanos,
                Optional.of(longest),
                all.nanos(longest),
                Map.of("decode", decode, "prompts", prompts, "between", engine - decode - prompts, "delivery", (double)
                        (seenNanos - engine)));
    }
}
