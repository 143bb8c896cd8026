package io.roseinfer.example;

import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;

/**
 * A step policy as a researcher would write one: every step decodes, and prompts fill it up to a number of tokens, which bounds how
 * long a step takes.
 */
public record BoundedPrompts(int tokens) implements StepPolicy {
    /** Creates the policy from the argument on the command line. */
    public BoundedPrompts(String tokens) {
        this(Integer.parseInt(tokens));
    }

    @Override
    public void plan(StepBuilder step) {
        step.decode();
        step.prefill(Math.max(1, tokens - step.tokens()));
    }
}
