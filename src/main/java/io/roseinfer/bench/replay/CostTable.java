package io.roseinfer.bench.replay;

import io.roseinfer.base.Check;
import java.util.Optional;

/**
 * Step costs fitted to measured steps, with a function for each of three kinds:
 *
 * <pre>
 * decode    decode.curve(tokens)   + attention of decode rows
 * prefill   prefill.curve(tokens)  + perRow · rows + perPromptAttended · attended + perPast · past
 * mixed     mixed.curve(tokens)    + perRow · rows + perPromptAttended · attended of prompts + perPast · past
 *           + attention of decode rows, at least the cost of its decode rows, and of its prompts, alone
 * </pre>
 *
 * <p>If too few mixed steps were measured, one costs as much as prompts of all its tokens, plus the attention of its decode rows. Such a cost
 * is outside the range. It is no bound: single steps took from less than that to more than the sum of a decode step and a prompt step.
 *
 * <p>The attention of decode rows costs what {@link DecodeAttention} says.
 *
 * @param decode steps that only decode, by rows; a draft counts as a row
 * @param prefill steps of prompts alone, by tokens of all rows
 * @param mixed steps of prompts and decode rows, by tokens of all rows; empty if too few were measured
 * @param range the measured steps; costs of others are extrapolated
 */
public record CostTable(Formula decode, Formula prefill, Optional<Formula> mixed, StepRange range)
        implements CostModel {
    /**
     * The costs of one kind of steps in nanoseconds.
     *
     * @param curve cost by width
     * @param perRow cost per row, at least 0
     * @param perPromptAttended cost per position that a prompt token attends to, at least 0
     * @param perPast cost per position of {@link StepShape#past}, at least 0
     * @param attention cost of the attention of decode rows
     */
    record Formula(Curve curve, double perRow, double perPromptAttended, double perPast, DecodeAttention attention) {
        Formula {
            Check.that(perRow >= 0 && perPromptAttended >= 0 && perPast >= 0, "work that takes less than no time");
        }

        double nanos(double width, StepShape shape) {
            return curve.at(width)
                    + perRow * shape.rows()
                    + perPromptAttended * (shape.attended() - shape.decodeAttended())
                    + perPast * shape.past()
                    + attention.nanos(shape);
        }

        private Formula times(double factor) {
            return new Formula(
                    curve.times(factor),
                    perRow * factor,
                    perPromptAttended * factor,
                    perPast * factor,
                    attention.times(factor));
        }
    }

    public CostTable {
        range = mixed.isPresent() ? range : range.withoutMixed();
    }

    /** Creates a linear table, with costs per step, token and attended position. */
    public static CostTable linear(double stepNanos, double tokenNanos, double attendedNanos) {
        Formula line =
                new Formula(Curve.line(stepNanos, tokenNanos), 0, attendedNanos, 0, DecodeAttention.of(attendedNanos));
        return new CostTable(line, line, Optional.of(line), StepRange.ALL);
    }

    @Override
    public double nanos(StepShape shape) {
        if (shape.isDecode()) {
            return decode.nanos(shape.tokens(), shape);
        }
        if (!shape.isMixed()) {
            return prefill.nanos(shape.tokens(), shape);
        }
        StepShape prompts = shape.prompts();
        double apart = Math.max(nanos(shape.decodeRows()), nanos(prompts));
        double together = mixed.isPresent()
                ? mixed.get().nanos(shape.tokens(), shape)
                : prefill.nanos(shape.tokens(), prompts) + decode.attention().nanos(shape);
        return Math.max(together, apart);
    }

    @Override
    public CostTable times(double factor) {
        return new CostTable(
                decode.times(factor), prefill.times(factor), mixed.map(costs -> costs.times(factor)), range);
    }
}
