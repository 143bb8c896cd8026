package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** Waits for a step of the device without a pause, and asks the driver now and then whether the device still works. */
final class StepWait {
    /** Takes the driver's codes: throws at any but success. */
    @FunctionalInterface
    interface CodeCheck {
        void check(int code, String what);
    }

    /** Looks at the tokenSlots between two questions to the driver. */
    private static final int SPINS_PER_QUERY = 1 << 14;

    private final Clock clock;
    private final StepBudget budget;
    private final IntSupplier stream;
    private final CodeCheck check;

    /**
     * @param budget the longest a step may take
     * @param stream asks the driver whether the stream is idle
     */
    StepWait(Clock clock, StepBudget budget, IntSupplier stream, CodeCheck check) {
        this.clock = clock;
        this.budget = budget;
        this.stream = stream;
        this.check = check;
    }

    /**
     * Waits for every word of a step, those of empty rows too: with the last of them the step has read its inputs, and its place
     * may be used again. A stream that is idle while a word is missing will never bring it.
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
     * @param event asks the driver whether it is over
     */
    void forEvent(IntSupplier event, int step, StepInputs inputs) {
        long start = clock.nanos();
        while (!isDone(step, inputs, start, event.getAsInt())) {
            Thread.onSpinWait();
        }
    }

    /** Waits for the stream to become idle, at most a minute: a device that has let a step's time pass may never be. */
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

    /** Whether the driver's answer says that the work is done; throws if the device has failed or been silent for too long. */
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
