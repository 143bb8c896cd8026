package io.roseinfer.bench.replay;

import io.roseinfer.base.Check;

/**
 * How long a step takes by what it computes, in nanoseconds: planning, packing, the device and taking in, as one. Steps that only
 * decode and the others have functions of their own:
 *
 * <pre>
 * decode    decode(rows) + decodePerAttended · attended
 * others    prefill(tokens) + prefillPerRow · rows + prefillPerAttended · attended
 * </pre>
 *
 * @param decode by rows
 * @param decodePerAttended for every position that a token attends to
 * @param prefill by tokens of all rows
 * @param prefillPerRow for every row, of which each has at most one sample
 * @param prefillPerAttended for every position that a token attends to
 * @param range the steps that were measured; costs of others are extrapolated
 */
public record CostTable(
        Curve decode,
        double decodePerAttended,
        Curve prefill,
        double prefillPerRow,
        double prefillPerAttended,
        StepRange range) {
    public CostTable {
        Check.that(
                decodePerAttended >= 0 && prefillPerRow >= 0 && prefillPerAttended >= 0,
                "work that takes less than no time");
    }

    /** A table of straight lines: so much for a step, for a token and for a position that one attends to. */
    public static CostTable linear(double stepNanos, double tokenNanos, double attendedNanos) {
        Curve line = Curve.line(stepNanos, tokenNanos);
        return new CostTable(line, attendedNanos, line, 0, attendedNanos, StepRange.ALL);
    }

    /** The length of a step. */
    public double nanos(StepShape shape) {
        return shape.isDecode()
                ? decode.at(shape.rows()) + decodePerAttended * shape.attended()
                : prefill.at(shape.tokens()) + prefillPerRow * shape.rows() + prefillPerAttended * shape.attended();
    }

    /** Steps that all take so many times as long. */
    public CostTable times(double factor) {
        return new CostTable(
                decode.times(factor),
                decodePerAttended * factor,
                prefill.times(factor),
                prefillPerRow * factor,
                prefillPerAttended * factor,
                range);
    }
}
