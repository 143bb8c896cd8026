package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** Busy-waits for a step, querying the driver now and then for failures. */
final class StepWait {
    /** Throws for any driver code but success. */
    @FunctionalInterface
    interface CodeCheck {
        void check(int code, String what);
    }

    /** Polls of a token slot between two driver queries. */
    private static final int SPINS_PER_QUERY = 1 << 14;

    private final Clock clock;
    private final StepBudget budget;
    private final IntSupplier stream;
    private final CodeCheck check;

    /**
     * @param budget time limit of a step
     * @param stream queries the driver whether the stream is idle
     */
    StepWait(Clock clock, StepBudget budget, IntSupplier stream, CodeCheck check) {
        this.clock = clock;
        this.budget = budget;
        this.stream = stream;
        this.check = check;
    }

    /**
     * Waits for every token of a step, including tokens of padding rows: with the last one the step has read its inputs, and its buffer
     * may be reused. If the stream is idle while a token is missing, the token will never arrive.
     */
    void forTokens(TokenSlots tokenSlots, int expectedTokens, int step, StepInputs inputs) {
        long start = clock.nanos();
        for (int sample = expectedTokens - 1; sample >= 0; sample--) {
            for (int spins = 1; !tokenSlots.has(sample, step); spins++) {
                Thread.onSpinWait();
                if (spins % SPINS_PER_QUERY == 0
                        && isDone(step, inputs, start, stream.getAsInt())
                        && !tokenSlots.has(sample, step)) {
                    check.check(DriverStatus.NO_TOKENS, "waiting for step " + step);
                }
            }
        }
    }

    /**
     * Waits for an event.
     *
     * @param event queries the driver whether it has completed
     */
    void forEvent(IntSupplier event, int step, StepInputs inputs) {
        long start = clock.nanos();
        while (!isDone(step, inputs, start, event.getAsInt())) {
            Thread.onSpinWait();
        }
    }

    /** Waits up to a minute for the stream to become idle, which a hung device never does. */
    boolean isIdleSoon() {
        long start = clock.nanos();
        while (stream.getAsInt() == DriverStatus.NOT_READY) {
            if (clock.nanos() - start > StepBudget.MIN_NANOS) {
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    /** Returns whether the driver reports completion; throws if the device has failed or exceeded the step's budget. */
    private boolean isDone(int step, StepInputs inputs, long startNanos, int code) {
        if (code != DriverStatus.NOT_READY) {
            check.check(code, "waiting for step " + step);
            return true;
        }
        long nanos = clock.nanos() - startNanos;
        if (nanos > StepBudget.MIN_NANOS && nanos > budget.nanos(inputs)) {
            check.check(
                    DriverStatus.STEP_TIMEOUT,
                    "waiting " + TimeUnit.NANOSECONDS.toSeconds(nanos) + " s for step " + step + ", of " + inputs.rows()
                            + " rows and " + inputs.tokens() + " tokens");
        }
        return false;
    }
}
