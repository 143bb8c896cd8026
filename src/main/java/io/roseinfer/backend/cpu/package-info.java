/**
 * Models on the processor. {@link io.roseinfer.backend.cpu.CpuBackend} packs weights once and runs every step on a fixed team of
 * threads: no queue, no allocation, and one order of operations per output element, whichever thread computes it. So a request's
 * tokens are the same to the bit in any batch, any chunking, with any number of threads and any vector width.
 *
 * <p>Vector code is slow until the JVM has compiled it, so a runner begins on the scalar kernels and changes to the vector kernels once a
 * thread of its own has seen them compiled; see {@code KernelWarmUp}. Both give the same bits.
 *
 * <p>{@code kernel} has the layouts and contracts, {@code scalar} the reference, {@code panama} the Vector API kernels. Only
 * {@code panama} may use {@code jdk.incubator.vector}, and it is loaded only when the module is there.
 *
 * <p>A {@code PanelPacker} copies weights, once, from a checkpoint's rows to the panels that {@code kernel} defines. A
 * {@code WorkerTeam} is the fixed team: it runs one job at a time, synchronizes between phases and distributes their items. A
 * thread cannot be ended from outside: when a worker does not return within a {@code StallLimit}, the job fails, no other is
 * run, and the owner of the memory keeps it.
 *
 * <p>Why not the common pool or virtual threads: a step is some hundred phases of microseconds, too short to queue tasks for. A
 * worker claims an item, such as a panel or a row's heads, by one atomic addition, and first those that it prefetched.
 */
@NullMarked
package io.roseinfer.backend.cpu;

import org.jspecify.annotations.NullMarked;
