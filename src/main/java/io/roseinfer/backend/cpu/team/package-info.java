/**
 * The threads of a step: a fixed team that runs one job at a time, meets between its phases and shares their items out, and what a
 * worker does while it waits. Nothing here knows of a model.
 *
 * <p>Why not the common pool or virtual threads: a step is some hundred phases of microseconds, too short to queue tasks for. A
 * worker claims an item, such as a panel or a row's heads, by one atomic addition, and first those that it prefetched.
 *
 * <p>A thread cannot be ended from outside. One that does not come back from its part of a job within a
 * {@link io.roseinfer.backend.cpu.team.StallLimit} is given up: the job fails, no other is run, and whoever owns the memory keeps it.
 */
@NullMarked
package io.roseinfer.backend.cpu.team;

import org.jspecify.annotations.NullMarked;
