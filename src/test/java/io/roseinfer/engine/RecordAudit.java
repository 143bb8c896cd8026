package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.SequenceProbe;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Counts what each step computes from the device's arrays and the requests, and compares it with the step's record. */
final class RecordAudit implements StepObserver {
    private final Map<Fact, Long> counted = new EnumMap<>(Fact.class);
    private long cachedTokens;
    private long accepted;

    /**
     * Counts a step that is being launched.
     *
     * @param running the requests that may be part of it
     */
    void count(StepInputs in, List<WatchedRequest> running) {
        counted.clear();
        add(Fact.ROWS, in.rows());
        add(Fact.TOKENS, in.tokens());
        List<WatchedRequest> active = running.stream()
                .filter(request -> request.live()
                        .sequence()
                        .filter(sequence -> SequenceProbe.inFlight(sequence) > 0)
                        .isPresent())
                .toList();
        for (int row = 0; row < in.rows(); row++) {
            countRow(in, row, requestOf(in, row, active));
        }
    }

    /**
     * Returns the request of a row, found by the block that the row's last token is written to, which is in one table
     * only.
     */
    private static WatchedRequest requestOf(StepInputs in, int row, List<WatchedRequest> active) {
        int last = in.blockStart(row + 1) - in.blockStart(row) - 1;
        int block = in.block(in.blockStart(row) + last);
        return active.stream()
                .filter(request -> {
                    Sequence sequence = request.live().sequence().orElseThrow();
                    return last < sequence.table().size() && sequence.table().block(last) == block;
                })
                .findFirst()
                .orElseThrow(() -> new AssertionError("row " + row + " belongs to an unknown request"));
    }

    private void countRow(StepInputs in, int row, WatchedRequest request) {
        int end = in.contextLength(row);
        int count = in.rowStart(row + 1) - in.rowStart(row);
        int start = end - count;
        int prompt = request.live().promptTokens();
        add(Fact.PREFILL_TOKENS, Math.max(0, Math.min(end, prompt) - start));
        int drafts = StepAudit.drafts(in, row);
        boolean decodes = count - drafts == 1 && start >= prompt;
        add(Fact.DECODE_ROWS, decodes ? 1 : 0);
        counted.merge(Fact.LONGEST, decodes ? (long) end : 0, Math::max);
        add(Fact.DRAFTS, drafts > 0 ? 1 : 0);
        add(Fact.DRAFT_TOKENS, drafts);
        add(Fact.RECOMPUTED_TOKENS, Math.max(0, Math.min(end, request.computedOnce()) - start));
        for (int position = start; position < end; position++) {
            add(Fact.ATTENDED, position + 1);
            add(Fact.DECODE_ATTENDED, decodes ? position + 1 : 0);
        }
        if (request.computedOnce() == 0) {
            add(Fact.CACHED_TOKENS, start);
            add(Fact.FORCED_ADMISSIONS, request.skips() == AdmissionPolicy.MAX_PASSES ? 1 : 0);
            cachedTokens += start;
        }
        request.computes(start, end - drafts);
    }

    private void add(Fact fact, long more) {
        counted.merge(fact, more, Long::sum);
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        if (event == StepEvent.APPLIED) {
            accepted += step.get(Fact.ACCEPTED_TOKENS);
            checkPositions(step);
        }
        if (event == StepEvent.SUBMITTED) {
            counted.forEach((fact, count) -> Require.that(
                    step.get(fact) == count,
                    "%s of step %d is %d, counted %d",
                    fact,
                    step.get(Fact.STEP),
                    step.get(fact),
                    count));
        }
    }

    private static void checkPositions(StepRecord step) {
        long rows = step.get(Fact.DRAFTS);
        long sum = 0;
        for (int position = 0; position < StepRecord.DRAFT_POSITIONS; position++) {
            Require.that(
                    step.acceptedAt(position) <= rows,
                    "draft %d was accepted in more rows than had the draft before, in %s",
                    position,
                    step);
            rows = step.acceptedAt(position);
            sum += rows;
        }
        Require.that(sum == step.get(Fact.ACCEPTED_TOKENS), "counts by position differ from their sum in %s", step);
    }

    /** Returns the number of prompt tokens found in the prefix cache at first admissions. */
    long cachedTokens() {
        return cachedTokens;
    }

    /** Returns the number of drafts accepted. */
    long accepted() {
        return accepted;
    }
}
