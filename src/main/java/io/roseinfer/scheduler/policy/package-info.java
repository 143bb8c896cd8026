/**
 * The scheduler's decisions, each an interface with a built-in default.
 * {@link io.roseinfer.scheduler.policy.AdmissionPolicy} chooses which requests are admitted,
 * {@link io.roseinfer.scheduler.policy.PreemptionPolicy} which one is preempted,
 * {@link io.roseinfer.scheduler.policy.EvictionPolicy} which cached KV block is evicted,
 * {@link io.roseinfer.scheduler.policy.StepPolicy} composes steps of decode rows and prompts, and
 * {@link io.roseinfer.scheduler.policy.Drafter} proposes tokens for a step to verify. Policies see read-only views, so
 * they cannot corrupt the scheduler's state. {@link io.roseinfer.scheduler.policy.RequestEvents} notifies policies that
 * keep state.
 *
 * <p>Why not a single interface: the scheduler itself guarantees that no request is passed over or preempted without end.
 * These guarantees hold for each decision separately, regardless of the other policies.
 */
@NullMarked
package io.roseinfer.scheduler.policy;

import org.jspecify.annotations.NullMarked;
