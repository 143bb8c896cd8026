/**
 * The threads of a step: a fixed team that runs one job at a time, meets between its phases and shares their items out, and what a
 * worker does while it waits. Nothing here knows of a model.
 *
 * <p>Why not the common pool or virtual threads: a step is some hundred phases of microseconds, too short to queue tasks for. A
 * worker claims an item, such as a panel or a row's heads, by one atomic addition, and first those that it prefetched.
 */
@NullMarked
package io.roseinfer.backend.cpu.team;

import org.jspecify.annotations.NullMarked;
