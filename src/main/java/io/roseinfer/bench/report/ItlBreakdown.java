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
 * The time between two token events of a request by the client's timestamps, with a breakdown if the engine's steps are known.
 *
 * @param request id of the request
 * @param token index of the first token of the later event; the request's first token has index 0
 * @param nanos duration of the gap
 * @param waitedFor the longest step that ended in the gap; empty if the steps are unknown
 * @param stepNanos duration of that step, without its wait for the previous step on the device
 * @param parts nanoseconds by name, empty if the steps are unknown: {@code decode} and {@code prompts}, the steps without and with prompt
 *     tokens; {@code idle}, the engine outside of steps; {@code delivery}, the change of the delay between engine and client from the
 *     previous token to this one, which may be negative. A decode step that waited on the device for a step with prompt tokens includes
 *     only the time after that step
 */
record ItlBreakdown(
        int request,
        int token,
        double nanos,
        Optional<StepRecord> waitedFor,
        double stepNanos,
        Map<String, Double> parts) {
    /** The names of the parts in order. */
    static final List<String> PARTS = List.of("decode", "prompts", "idle", "delivery");

    /** Returns all gaps of a request. */
    static List<ItlBreakdown> of(CallResult call, StepIndex steps) {
        List<Long> seen = call.arrivals().nanos();
        List<Long> had = call.server().map(ServerStamps::tokenNanos).orElse(List.of());
        int engine = call.server().map(stamps -> stamps.served().engine()).orElse(0);
        List<ItlBreakdown> gaps = new ArrayList<>();
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
                            ? new ItlBreakdown(call.id(), token, nanos, Optional.empty(), 0, Map.of())
                            : gap(call.id(), token, nanos, had.subList(event - 1, event + 1), between, steps));
        }
        return gaps;
    }

    private static ItlBreakdown gap(
            int request, int token, long seenNanos, List<Long> had, List<StepRecord> steps, StepIndex all) {
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
        return new ItlBreakdown(
                request,
                token,
                seenNanos,
                Optional.of(longest),
                all.nanos(longest),
                Map.of("decode", decode, "prompts", prompts, "idle", engine - decode - prompts, "delivery", (double)
                        (seenNanos - engine)));
    }
}
