package io.roseinfer.scheduler.policy;

/**
 * The decisions of a scheduler.
 *
 * @param admission which waiting requests are admitted
 * @param preemption who gives blocks back when there are none left
 * @param step in which order decode rows and prompts make up steps
 */
public record Policies(AdmissionPolicy admission, PreemptionPolicy preemption, StepPolicy step) {}
