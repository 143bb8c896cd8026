package io.roseinfer.bench.replay;

import io.roseinfer.base.Check;

/**
 * The duration of a step in nanoseconds by its shape, including planning, packing, device and applying. Steps that only decode and other
 * steps have separate functions:
 *
 * <pre>
 * decode    decode(rows) + decodePerAttended · attended
 * others    prefill(tokens) + prefillPerRow · rows + prefillPerAttended · attended
 * </pre>
 *
 * @param decode cost of a decode step by rows
 * @param decodePerAttended cost per attended position
 * @param prefill cost of another step by tokens of all rows
 * @param prefillPerRow cost per row, which has at most one sample
 * @param prefillPerAttended cost per attended position
 * @param range the measured steps; costs of others are extrapolated
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

    /** Creates a linear table, with costs per step, token and attended position. */
    public static CostTable linear(double stepNanos, double tokenNanos, double attendedNanos) {
        Curve line = Curve.line(stepNanos, tokenNanos);
        return new CostTable(line, attendedNanos, line, 0, attendedNanos, StepRange.ALL);
    }

    /** Returns the duration of a step. */
    public double nanos(StepShape shape) {
        return shape.isDecode()
                ? decode.at(shape.rows()) + decodePerAttended * shape.attended()
                : prefill.at(shape.tokens()) + prefillPerRow * shape.rows() + prefillPerAttended * shape.attended();
    }

    /** Returns the table with all costs multiplied by a factor. */
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
