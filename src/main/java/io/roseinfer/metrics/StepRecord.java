package io.roseinfer.metrics;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What one step of an engine took and did: a number for every {@link Fact}. Its four phases follow each other without a gap:
 * planning, packing, the device, and taking in what it sampled. Where several steps are in flight, the device's phase includes
 * waiting for the step before, and the next step's planning and packing fall into it.
 *
 * <p>The engine fills one in while its step is under way, and again for later steps, so noting them allocates nothing. Those that
 * a log hands out are copies, which nobody writes.
 */
public final class StepRecord {
    /** The facts of a step. The order is that of {@link #copyOf}. */
    public enum Fact {
        /** The step's number, counted from zero. */
        STEP(Kind.STATE, "Step"),
        /** When its planning began, of the engine's clock. */
        START_NANOS(Kind.STATE, "Start"),
        /** Deciding what it computes, admissions included. */
        PLAN_NANOS(Kind.DURATION, "Plan"),
        /** Writing that into the device's arrays. */
        PACK_NANOS(Kind.DURATION, "Pack"),
        /** From handing it to the device until its results were there. */
        DEVICE_NANOS(Kind.DURATION, "Device"),
        /** Taking the results in. */
        APPLY_NANOS(Kind.DURATION, "Apply"),
        /** The call that handed the step over, as part of the device's time. */
        SUBMIT_NANOS(Kind.DURATION, "Submit"),
        /** As part of the device's time, waiting for it and doing nothing else. */
        WAIT_NANOS(Kind.DURATION, "Wait"),
        /** Rows, one for each sequence that it computed tokens of. */
        ROWS(Kind.COUNT, "Rows"),
        /** Tokens that it computed, those that a preempted sequence had to compute again included. */
        TOKENS(Kind.COUNT, "Tokens"),
        /** Prompt tokens it computed. */
        PREFILL_TOKENS(Kind.COUNT, "Prefill Tokens"),
        /** Rows that computed one generated token. */
        DECODE_ROWS(Kind.COUNT, "Decode Rows"),
        /** Positions that its tokens attend to, of one layer: a token at position p, counted from zero, attends to p + 1. */
        ATTENDED(Kind.COUNT, "Attended Positions"),
        /** Requests waiting when it was planned, those it admitted left out. */
        WAITING(Kind.STATE, "Waiting Requests"),
        /** Requests that held KV blocks when it was planned. */
        ACTIVE(Kind.STATE, "Active Requests"),
        /** KV blocks that could still be given out when it was planned, cached ones included. */
        FREE_BLOCKS(Kind.STATE, "Free KV Blocks"),
        /** Prompt tokens that the requests it admitted found in the prefix cache. */
        CACHED_TOKENS(Kind.COUNT, "Cached Tokens"),
        /** Requests that gave their blocks back so that it could be planned. */
        PREEMPTIONS(Kind.COUNT, "Preemptions"),
        /** Tokens that preempted requests had computed before and that it computed again. */
        RECOMPUTED_TOKENS(Kind.COUNT, "Recomputed Tokens"),
        /** Requests it admitted that had been skipped as often as a request may be, so that the policy's rank no longer applied. */
        FORCED_ADMISSIONS(Kind.COUNT, "Forced Admissions"),
        /** Which of several engines took it, counted from zero; each numbers its own steps. */
        ENGINE(Kind.STATE, "Engine");

        private enum Kind {
            /** Identifies the step, or describes the engine at its planning. */
            STATE,
            /** A length of time. */
            DURATION,
            /** An amount that the step did; the engine has the sum over all steps, too. */
            COUNT
        }

        private final Kind kind;
        private final String label;
        private final String key;

        Fact(Kind kind, String label) {
            this.kind = kind;
            this.label = label;
            this.key = name().toLowerCase(Locale.ROOT);
        }

        /** As people read it, such as {@code Decode Rows}. */
        public String label() {
            return label;
        }

        /** As programs read it, such as {@code decode_rows}. */
        public String key() {
            return key;
        }

        /** Whether it is a length of time, in nanoseconds. */
        public boolean isDuration() {
            return kind == Kind.DURATION;
        }

        /** The facts that count what a step did, of which an engine has the sums over its steps. */
        public static List<Fact> counts() {
            return Arrays.stream(values())
                    .filter(fact -> fact.kind == Kind.COUNT)
                    .toList();
        }
    }

    /** How many facts there are. */
    public static final int FACTS = Fact.values().length;

    private final long[] values = new long[FACTS];

    /** The facts in an array from {@code at} on, in the order in which {@link #copyTo} writes them: that of {@link Fact}. */
    public static StepRecord copyOf(long[] values, int at) {
        StepRecord step = new StepRecord();
        System.arraycopy(values, at, step.values, 0, FACTS);
        return step;
    }

    /** Copies all facts into an array, from {@code at} on. */
    public void copyTo(long[] target, int at) {
        System.arraycopy(values, 0, target, at, FACTS);
    }

    public long get(Fact fact) {
        return values[fact.ordinal()];
    }

    public void set(Fact fact, long value) {
        values[fact.ordinal()] = value;
    }

    public void add(Fact fact, long value) {
        values[fact.ordinal()] += value;
    }

    /** When it had been planned, and packing began. */
    public long plannedNanos() {
        return get(Fact.START_NANOS) + get(Fact.PLAN_NANOS);
    }

    /** When it had been packed, and the device's phase began. */
    public long packedNanos() {
        return plannedNanos() + get(Fact.PACK_NANOS);
    }

    /** When the device had been given it. */
    public long submittedNanos() {
        return packedNanos() + get(Fact.SUBMIT_NANOS);
    }

    /** When its results were there. */
    public long awaitedNanos() {
        return packedNanos() + get(Fact.DEVICE_NANOS);
    }

    /** When its results had been taken in. */
    public long endNanos() {
        return awaitedNanos() + get(Fact.APPLY_NANOS);
    }

    /** Nanoseconds that it cost the thread that drives the device, waiting left out. */
    public long hostNanos() {
        return get(Fact.PLAN_NANOS) + get(Fact.PACK_NANOS) + get(Fact.SUBMIT_NANOS) + get(Fact.APPLY_NANOS);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StepRecord step && Arrays.equals(values, step.values);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }

    /** All facts in words, such as {@code step 3, start_nanos 120, …}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Fact fact : Fact.values()) {
            text.append(text.isEmpty() ? "" : ", ")
                    .append(fact.key())
                    .append(' ')
                    .append(get(fact));
        }
        return text.toString();
    }
}
