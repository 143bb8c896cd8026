/**
 * Models on the CPU. {@link io.roseinfer.backend.cpu.CpuBackend} packs weights once and runs every step on a fixed thread team: no
 * queue, no allocation, and one order of operations per output element, whichever thread computes it. So a request's tokens are
 * bit-identical in any batch and chunking, with any thread count and vector width.
 *
 * <p>Vector code is slow until it is compiled, so a runner starts on the scalar kernels and switches to the vector kernels once a
 * separate thread has warmed them up ({@code KernelWarmUp}). Both are bit-identical.
 *
 * <p>{@code kernel} has the layouts and contracts, {@code scalar} the reference, {@code panama} the Vector API kernels. Only
 * {@code panama} may use {@code jdk.incubator.vector}, and it is loaded only if the module is present.
 *
 * <p>A {@code PanelPacker} packs checkpoint rows into the panels of {@code kernel}. A {@code WorkerTeam} runs one job at a time, with
 * barriers between phases and work stealing within them. If a worker does not return within a {@code StallLimit}, the job fails, no
 * other job runs, and its memory stays allocated.
 *
 * <p>Why not the common pool or virtual threads: a step has about a hundred phases of microseconds, too short for task queues. A worker
 * claims an item, such as a panel or a row's heads, by one atomic addition, starting with those that it prefetched.
 */
@NullMarked
package io.roseinfer.backend.cpu;

import org.jspecify.annotations.NullMarked;
