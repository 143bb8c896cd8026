/**
 * Decides which tokens the next step computes. {@code plan()} makes a {@link io.roseinfer.scheduler.StepPlan} and
 * {@code apply} appends the tokens that the step sampled. There are no tensors, threads or clock: equal calls give
 * equal decisions, so runs can be replayed. The number of drafts follows from step times, which are passed in. Several schedulers share only the
 * {@link io.roseinfer.scheduler.WaitingQueue}, under one lock.
 *
 * <p>A sequence simply has {@code length − computed} tokens to compute. Decoding is a difference of one; chunked
 * prefill, cached prefixes and recomputation after preemption use the same code. A row may compute drafts beyond the length:
 * those that the step does not sample are rolled back when it is applied.
 *
 * <p>The decisions themselves are policies, in {@link io.roseinfer.scheduler.policy}.
 */
@NullMarked
package io.roseinfer.scheduler;

import org.jspecify.annotations.NullMarked;
