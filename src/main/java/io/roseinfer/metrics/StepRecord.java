package io.roseinfer.metrics;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Times and counts of one step: a number for every {@link Fact}. Its four phases are contiguous: planning, packing,
 * device, applying. With several steps in flight, the device phase includes waiting for the previous step, and the next
 * step is planned and packed during it.
 *
 * <p>The engine writes {@link WritableStep}s and reuses them, so that recording allocates no memory. Records returned by a step log are copies
 * that are never written.
 */
public class StepRecord {
    /** The facts of a step, in the order of {@link #copyOf}. */
    public enum Fact {
        /** The step's number, counted from zero. */
        STEP(Kind.STATE, "Step"),
        /** When planning started, by the engine's clock. */
        START_NANOS(Kind.STATE, "Start"),
        /** Deciding what to compute, including admissions. */
        PLAN_NANOS(Kind.DURATION, "Plan"),
        /** Writing the step into the device's input arrays. */
        PACK_NANOS(Kind.DURATION, "Pack"),
        /** From submission to the device until the results were available. */
        DEVICE_NANOS(Kind.DURATION, "Device"),
        /** Applying the results. */
        APPLY_NANOS(Kind.DURATION, "Apply"),
        /** The submit call, part of the device phase. */
        SUBMIT_NANOS(Kind.DURATION, "Submit"),
        /** Waiting for the device with nothing else to do, part of the device phase. */
        WAIT_NANOS(Kind.DURATION, "Wait"),
        /** Rows: one for each sequence with tokens in the step. */
        ROWS(Kind.COUNT, "Rows"),
        /** Tokens computed, including recomputed ones. */
        TOKENS(Kind.COUNT, "Tokens"),
        /** Prompt tokens computed. */
        PREFILL_TOKENS(Kind.COUNT, "Prefill Tokens"),
        /** Rows with one generated token and its drafts, if any. */
        DECODE_ROWS(Kind.COUNT, "Decode Rows"),
        /** Positions attended to in one layer: a token at position p, counted from zero, attends to p + 1. */
        ATTENDED(Kind.COUNT, "Attended Positions"),
        /** The part of {@link #ATTENDED} that decode rows attend to. */
        DECODE_ATTENDED(Kind.COUNT, "Attended Positions of Decode Rows"),
        /** Positions that the longest decode row attends to; 0 without decode rows. */
        LONGEST(Kind.STATE, "Longest Decode Row"),
        /** Requests waiting when it was planned, without those it admitted. */
        WAITING(Kind.STATE, "Waiting Requests"),
        /** Requests that held KV blocks when it was planned. */
        ACTIVE(Kind.STATE, "Active Requests"),
        /** KV blocks available when it was planned, including cached ones. */
        FREE_BLOCKS(Kind.STATE, "Free KV Blocks"),
        /** Prompt tokens of the admitted requests that were in the prefix cache. */
        CACHED_TOKENS(Kind.COUNT, "Cached Tokens"),
        /** Requests preempted to plan the step. */
        PREEMPTIONS(Kind.COUNT, "Preemptions"),
        /** Tokens of preempted requests that were computed again. */
        RECOMPUTED_TOKENS(Kind.COUNT, "Recomputed Tokens"),
        /** Requests admitted because they had reached the maximum of passes, regardless of the policy's rank. */
        FORCED_ADMISSIONS(Kind.COUNT, "Forced Admissions"),
        /** Rows with drafts. */
        DRAFTS(Kind.COUNT, "Drafts"),
        /** Draft tokens computed. */
        DRAFT_TOKENS(Kind.COUNT, "Draft Tokens"),
        /** Draft tokens accepted, because they are what the request sampled. */
        ACCEPTED_TOKENS(Kind.COUNT, "Accepted Draft Tokens"),
        /** The counts {@link StepRecord#acceptedAt} of positions 0 to 7, {@value StepRecord#POSITION_BITS} bits each. */
        ACCEPTED_AT_0_TO_7(Kind.STATE, "Accepted Draft Tokens at 0 to 7"),
        /** The counts {@link StepRecord#acceptedAt} of positions 8 to 15. */
        ACCEPTED_AT_8_TO_15(Kind.STATE, "Accepted Draft Tokens at 8 to 15"),
        /** The engine that ran the step, counted from zero; each engine numbers its own steps. */
        ENGINE(Kind.STATE, "Engine");

        private enum Kind {
            /** Identifies the step, or describes the engine when it was planned. */
            STATE,
            /** A duration. */
            DURATION,
            /** An amount of work in the step; the engine also keeps its sum over all steps. */
            COUNT
        }

        private static final List<Fact> COUNTS =
                Arrays.stream(values()).filter(fact -> fact.kind == Kind.COUNT).toList();

        private final Kind kind;
        private final String label;
        private final String key;

        Fact(Kind kind, String label) {
            this.kind = kind;
            this.label = label;
            this.key = name().toLowerCase(Locale.ROOT);
        }

        /** Returns the name for users, such as {@code Decode Rows}. */
        public String label() {
            return label;
        }

        /** Returns the name for programs, such as {@code decode_rows}. */
        public String key() {
            return key;
        }

        /** Returns the name in the HTTP API, such as {@code plan_ns}. */
        public String apiKey() {
            return key.replace("_nanos", "_ns");
        }

        /** Returns whether the fact is a duration in nanoseconds. */
        public boolean isDuration() {
            return kind == Kind.DURATION;
        }

        /** Returns the facts that count work, whose sums the engine keeps. */
        public static List<Fact> counts() {
            return COUNTS;
        }
    }

    /** The number of facts. */
    public static final int FACTS = Fact.values().length;

    /** The number of positions of drafts in a row that {@link #acceptedAt} counts. */
    public static final int DRAFT_POSITIONS = 16;

    private static final int POSITION_BITS = 6;

    /** Maximum rows with drafts in a step. */
    public static final int MAX_DRAFT_ROWS = (1 << POSITION_BITS) - 1;

    private static final int POSITIONS_PER_FACT = DRAFT_POSITIONS / 2;

    /** The facts whose sum is {@link #awaitedNanos}. */
    static final List<Fact> UNTIL_AWAITED =
            List.of(Fact.START_NANOS, Fact.PLAN_NANOS, Fact.PACK_NANOS, Fact.DEVICE_NANOS);

    /** The facts whose sum is {@link #endNanos}. */
    static final List<Fact> UNTIL_END =
            List.of(Fact.START_NANOS, Fact.PLAN_NANOS, Fact.PACK_NANOS, Fact.DEVICE_NANOS, Fact.APPLY_NANOS);

    final long[] values = new long[FACTS];

    StepRecord() {}

    /** Creates a record from the facts in an array, starting at index {@code at}, in the order of {@link Fact}. */
    public static StepRecord copyOf(long[] values, int at) {
        StepRecord step = new StepRecord();
        System.arraycopy(values, at, step.values, 0, FACTS);
        return step;
    }

    /** Copies all facts into an array, starting at index {@code at}. */
    public final void copyTo(long[] target, int at) {
        System.arraycopy(values, 0, target, at, FACTS);
    }

    public final long get(Fact fact) {
        return values[fact.ordinal()];
    }

    /** Returns how many rows accepted the draft at a position, {@code 0 <= position < DRAFT_POSITIONS}. */
    public final int acceptedAt(int position) {
        return (int) (get(acceptedFact(position)) >>> acceptedShift(position)) & MAX_DRAFT_ROWS;
    }

    static Fact acceptedFact(int position) {
        return position < POSITIONS_PER_FACT ? Fact.ACCEPTED_AT_0_TO_7 : Fact.ACCEPTED_AT_8_TO_15;
    }

    static int acceptedShift(int position) {
        return position % POSITIONS_PER_FACT * POSITION_BITS;
    }

    /** Returns when it was planned and packing started. */
    public final long plannedNanos() {
        return get(Fact.START_NANOS) + get(Fact.PLAN_NANOS);
    }

    /** Returns when it was packed and the device phase started. */
    public final long packedNanos() {
        return plannedNanos() + get(Fact.PACK_NANOS);
    }

    /** Returns when the submit call returned. */
    public final long submittedNanos() {
        return packedNanos() + get(Fact.SUBMIT_NANOS);
    }

    /** Returns when its results were available. */
    public final long awaitedNanos() {
        return packedNanos() + get(Fact.DEVICE_NANOS);
    }

    /** Returns when its results had been applied. */
    public final long endNanos() {
        return awaitedNanos() + get(Fact.APPLY_NANOS);
    }

    /** Returns the time it took on the thread that drives the device, without waiting. */
    public final long hostNanos() {
        return get(Fact.PLAN_NANOS) + get(Fact.PACK_NANOS) + get(Fact.SUBMIT_NANOS) + get(Fact.APPLY_NANOS);
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof StepRecord step && Arrays.equals(values, step.values);
    }

    @Override
    public final int hashCode() {
        return Arrays.hashCode(values);
    }

    /** Returns all facts as text, such as {@code step 3, start_nanos 120, …}. */
    @Override
    public final String toString() {
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
