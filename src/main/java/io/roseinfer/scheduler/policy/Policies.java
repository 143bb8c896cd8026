package io.roseinfer.scheduler.policy;

import java.util.Objects;

/**
 * The decisions of a scheduler.
 *
 * @param admission which waiting requests are admitted
 * @param preemption who gives blocks back when there are none left
 * @param step in which order decode rows and prompts make up steps
 */
public record Policies(AdmissionPolicy admission, PreemptionPolicy preemption, StepPolicy step) {
    public Policies {
        Objects.requireNonNull(admission, "admission");
        Objects.requireNonNull(preemption, "preemption");
        Objects.requireNonNull(step, "step");
    }
}
