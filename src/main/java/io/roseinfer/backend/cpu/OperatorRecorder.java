package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepProfile;
import io.roseinfer.backend.StepProfile.Kind;
import io.roseinfer.backend.StepProfile.Part;
import io.roseinfer.backend.StepProfiler;
import io.roseinfer.base.Clock;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the workers' operator times after each step in a fixed ring, without allocation. The time from a worker's end to the
 * slowest worker's end is {@link Operator#WAITING}.
 */
final class OperatorRecorder implements StepProfiler {
    /** Number of steps kept; they take 7 MB. */
    static final int KEPT = 1 << 14;

    private static final Operator[] OPERATORS = Operator.values();

    private final Clock clock;
    private final StepWork work;
    private final OperatorTimes.Recorded[] times;
    private final long[] nanos = new long[KEPT * OPERATORS.length];
    private final int[] calls = new int[KEPT * OPERATORS.length];
    private final long[] bytes = new long[KEPT * OPERATORS.length];
    private final long[] flops = new long[KEPT * OPERATORS.length];
    private final long[] stepNanos = new long[KEPT];
    private final int[] rows = new int[KEPT];
    private final int[] tokens = new int[KEPT];
    private final boolean[] decode = new boolean[KEPT];
    private long recorded;
    private long startNanos;

    /** Starts recording on all workers. */
    OperatorRecorder(Clock clock, StepWork work, Worker[] workers) {
        this.clock = clock;
        this.work = work;
        this.times = new OperatorTimes.Recorded[workers.length];
        for (int i = 0; i < workers.length; i++) {
            times[i] = new OperatorTimes.Recorded(clock);
            workers[i].times = times[i];
        }
    }

    /** Begins a step. */
    void begin() {
        startNanos = clock.nanos();
        for (OperatorTimes.Recorded worker : times) {
            worker.begin(startNanos);
        }
    }

    /** Ends the step that began last. */
    void end(StepInputs step) {
        int place = (int) (recorded % KEPT);
        stepNanos[place] = clock.nanos() - startNanos;
        rows[place] = step.rows();
        tokens[place] = step.tokens();
        decode[place] = step.tokens() == step.rows();
        int first = place * OPERATORS.length;
        for (Operator operator : OPERATORS) {
            calls[first + operator.ordinal()] = times[0].calls(operator);
            nanos[first + operator.ordinal()] = mean(operator);
        }
        nanos[first + Operator.WAITING.ordinal()] += meanWaitForTheLast();
        work.of(step, bytes, flops, first);
        recorded++;
    }

    private long mean(Operator operator) {
        long sum = 0;
        for (OperatorTimes.Recorded worker : times) {
            sum += worker.nanos(operator);
        }
        return sum / times.length;
    }

    private long meanWaitForTheLast() {
        long last = startNanos;
        for (OperatorTimes.Recorded worker : times) {
            last = Math.max(last, worker.lastNanos());
        }
        long sum = 0;
        for (OperatorTimes.Recorded worker : times) {
            sum += last - worker.lastNanos();
        }
        return sum / times.length;
    }

    @Override
    public void clear() {
        recorded = 0;
    }

    @Override
    public long recorded() {
        return recorded;
    }

    @Override
    public List<StepProfile> steps() {
        List<StepProfile> steps = new ArrayList<>();
        for (long step = Math.max(0, recorded - KEPT); step < recorded; step++) {
            steps.add(read((int) (step % KEPT)));
        }
        return steps;
    }

    private StepProfile read(int place) {
        List<Part> parts = new ArrayList<>();
        for (Operator operator : OPERATORS) {
            int at = place * OPERATORS.length + operator.ordinal();
            if (calls[at] > 0) {
                parts.add(new Part(operator, calls[at], nanos[at], bytes[at], flops[at]));
            }
        }
        return new StepProfile(
                decode[place] ? Kind.DECODE : Kind.PREFILL, rows[place], tokens[place], stepNanos[place], parts);
    }
}
