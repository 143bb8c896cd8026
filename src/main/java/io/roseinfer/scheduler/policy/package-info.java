/**
 * The scheduler's decisions, each an interface with a default: who is admitted
 * ({@link io.roseinfer.scheduler.policy.AdmissionPolicy}), who gives blocks back
 * ({@link io.roseinfer.scheduler.policy.PreemptionPolicy}), and in which order decode rows and prompts make up steps
 * ({@link io.roseinfer.scheduler.policy.StepPolicy}). A policy sees views and never a sequence, so it cannot break the books.
 *
 * <p>Why not one interface for all: the guarantees (nobody is passed over or starts over without end) are the scheduler's, and hold
 * decision by decision, whatever the other policies say.
 */
@NullMarked
package io.roseinfer.scheduler.policy;

import org.jspecify.annotations.NullMarked;
