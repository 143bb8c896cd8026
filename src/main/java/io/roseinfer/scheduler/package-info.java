/**
 * Which tokens are computed in the next step: a decision over integers. {@code plan()} yields a
 * {@link io.roseinfer.scheduler.StepPlan}, {@code apply} takes what the step sampled. No tensor, no thread, no clock: the same
 * calls give the same decisions, so a run can be replayed. What several schedulers share is the
 * {@link io.roseinfer.scheduler.WaitingRoom}, under one lock.
 *
 * <p>A sequence simply has {@code length − computed} tokens to do. Decode is a difference of one; a long prompt cut into chunks,
 * a prefix found in the cache and a recompute after preemption are the same code.
 *
 * <p>The decisions themselves are policies, in {@link io.roseinfer.scheduler.policy}.
 */
@NullMarked
package io.roseinfer.scheduler;

import org.jspecify.annotations.NullMarked;
