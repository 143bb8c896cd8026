package io.roseinfer.example;

import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;

/**
 * A step policy with state: between two steps that have prompts and decode rows, a number of steps only decode. Each replica counts
 * its own steps, so {@link #forScheduler} returns a new object.
 */
public final class SpacedPrompts implements StepPolicy {
    private final int between;
    private int decoded;

    private SpacedPrompts(int between) {
        this.between = between;
    }

    /** Creates the policy from the argument on the command line. */
    public SpacedPrompts(String between) {
        this(Integer.parseInt(between));
    }

    @Override
    public StepPolicy forScheduler(int index) {
        return new SpacedPrompts(between);
    }

    @Override
    public void plan(StepBuilder step) {
        step.decode();
        if (step.isEmpty() || decoded >= between) {
            step.prefill(Math.max(1, step.prefillMaxTokens() - step.tokens()));
            decoded = 0;
        } else {
            decoded++;
        }
    }
}
