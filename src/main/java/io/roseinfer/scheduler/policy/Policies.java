package io.roseinfer.scheduler.policy;

import java.util.Objects;

/**
 * The policies of an engine. One object may be several of them; those that implement {@link RequestEvents} are notified.
 *
 * @param admission chooses which waiting requests are admitted
 * @param preemption chooses which request is preempted if the KV pool is exhausted
 * @param eviction chooses which cached KV block is evicted
 * @param step composes steps of decode rows and prompts
 * @param drafter proposes tokens that a step verifies with a request's last token
 */
public record Policies(
        AdmissionPolicy admission,
        PreemptionPolicy preemption,
        EvictionPolicy eviction,
        StepPolicy step,
        Drafter drafter) {
    public Policies {
        Objects.requireNonNull(admission, "admission");
        Objects.requireNonNull(preemption, "preemption");
        Objects.requireNonNull(eviction, "eviction");
        Objects.requireNonNull(step, "step");
        Objects.requireNonNull(drafter, "drafter");
    }
}
