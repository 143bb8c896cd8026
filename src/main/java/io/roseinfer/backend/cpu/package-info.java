/**
 * Models on the processor. {@link io.roseinfer.backend.cpu.CpuBackend} packs weights once and runs every step on a fixed team of
 * threads: no queue, no allocation, and one order of operations per output element, whichever thread computes it. So a request's
 * tokens are the same to the bit in any batch, any chunking, with any number of threads and any vector width.
 *
 * <p>Vector code is slow until the JVM has compiled it, so a runner begins on the scalar kernels and changes to the vector kernels once a
 * thread of its own has seen them compiled; see {@code KernelWarmUp}. Both give the same bits.
 *
 * <p>{@code kernel} has the layouts and contracts, {@code scalar} the reference, {@code panama} the Vector API kernels, {@code pack}
 * the packing of weights, {@code team} the threads. Only {@code panama} may touch {@code jdk.incubator.vector}, and it is loaded only
 * when the module is there.
 */
@NullMarked
package io.roseinfer.backend.cpu;

import org.jspecify.annotations.NullMarked;
