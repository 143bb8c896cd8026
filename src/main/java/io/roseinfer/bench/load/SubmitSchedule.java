package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import java.util.Arrays;
import java.util.List;

/**
 * When the requests of a run are submitted. An interval of 0 submits them in one burst, whatever the mode.
 *
 * @param mode what the interval is counted from
 * @param intervalMillis milliseconds between requests; in the mean, if they have times of their own
 * @param dueNanos when each request is due after the run's start; empty if the interval says it all
 */
public record SubmitSchedule(Mode mode, double intervalMillis, List<Long> dueNanos) {
    /** The longest interval. */
    public static final int MAX_INTERVAL_MILLIS = 3_600_000;

    private static final double NANOS_PER_MILLI = 1e6;

    public enum Mode {
        /** Waits the interval after each submit call returns, as a client does that sends one request after the other. */
        RELATIVE,
        /** Submits request i at start + i · interval: a faster submit path cannot change the arrival rate. */
        ABSOLUTE;

        @Override
        public String toString() {
            return this == RELATIVE ? "relative" : "absolute";
        }
    }

    public SubmitSchedule {
        dueNanos = List.copyOf(dueNanos);
        if (!(intervalMillis >= 0 && intervalMillis <= MAX_INTERVAL_MILLIS)) {
            throw new BadInput(
                    "--submit-interval-ms is " + intervalMillis + "; it must be 0 (burst) to " + MAX_INTERVAL_MILLIS);
        }
    }

    /** The same interval between any two requests. */
    public SubmitSchedule(Mode mode, double intervalMillis) {
        this(mode, intervalMillis, List.of());
    }

    /** Times of their own, in nanoseconds after the run's start, in ascending order. */
    public static SubmitSchedule at(long... dueNanos) {
        long span = dueNanos.length == 0 ? 0 : dueNanos[dueNanos.length - 1];
        if (span == 0) {
            return burst();
        }
        double mean = Math.min(MAX_INTERVAL_MILLIS, span / NANOS_PER_MILLI / Math.max(1, dueNanos.length - 1));
        return new SubmitSchedule(
                Mode.ABSOLUTE, mean, Arrays.stream(dueNanos).boxed().toList());
    }

    public static SubmitSchedule burst() {
        return new SubmitSchedule(Mode.RELATIVE, 0);
    }

    public boolean isBurst() {
        return intervalMillis == 0;
    }

    /** Whether every request has a target time, so that being late can be measured. */
    public boolean hasTargets() {
        return mode == Mode.ABSOLUTE && !isBurst();
    }

    /** Nanoseconds after the run's start at which a request is due; only with targets. */
    public long targetNanos(int request) {
        return dueNanos.isEmpty() ? Math.round(request * intervalMillis * NANOS_PER_MILLI) : dueNanos.get(request);
    }

    public long intervalNanos() {
        return Math.round(intervalMillis * NANOS_PER_MILLI);
    }
}
