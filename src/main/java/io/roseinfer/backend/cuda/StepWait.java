package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Clock;
import java.util.function.IntSupplier;

/** Waits for a step of the device without a pause, and asks the driver now and then whether the device still works. */
final class StepWait {
    /** Takes the driver's codes: throws at any but success. */
    @FunctionalInterface
    interface CodeCheck {
        void check(int code, String what);
    }

    /** Looks at the mailbox between two questions to the driver. */
    private static final int SPINS_PER_QUERY = 1 << 14;

    /** Longest a step may take: the largest takes well under a second. */
    static final long LIMIT_NANOS = 60_000_000_000L;

    private final Clock clock;
    private final IntSupplier stream;
    private final CodeCheck check;

    /**
     * @param stream asks the driver whether the stream is idle
     */
    StepWait(Clock clock, IntSupplier stream, CodeCheck check) {
        this.clock = clock;
        this.stream = stream;
        this.check = check;
    }

    /**
     * Waits for every word of a step, those of empty rows too: with the last of them the step has read its inputs, and its place
     * may be used again. A stream that is idle while a word is missing will never bring it.
     */
    void forMail(Mailbox mailbox, int mails, int step) {
        long start = clock.nanos();
        for (int sample = mails - 1; sample >= 0; sample--) {
            for (int spins = 1; !mailbox.has(sample, step); spins++) {
                Thread.onSpinWait();
                if (spins % SPINS_PER_QUERY == 0
                        && isDone(step, start, stream.getAsInt())
                        && !mailbox.has(sample, step)) {
                    check.check(DriverStatus.NO_TOKENS, waitingFor(step));
                }
            }
        }
    }

    /**
     * Waits for an event.
     *
     * @param event asks the driver whether it is over
     */
    void forEvent(IntSupplier event, int step) {
        long start = clock.nanos();
        while (!isDone(step, start, event.getAsInt())) {
            Thread.onSpinWait();
        }
    }

    /** Whether the driver's answer says that the work is done; throws if the device has failed or been silent for too long. */
    private boolean isDone(int step, long startNanos, int code) {
        if (code != DriverStatus.NOT_READY) {
            check.check(code, waitingFor(step));
            return true;
        }
        if (clock.nanos() - startNanos > LIMIT_NANOS) {
            check.check(DriverStatus.LAUNCH_TIMEOUT, waitingFor(step));
        }
        return false;
    }

    private static String waitingFor(int step) {
        return "waiting for step " + step;
    }
}
