/**
 * Models on the processor. {@link io.roseinfer.backend.cpu.CpuBackend} packs weights once and runs every step on a fixed team of
 * threads: no queue, no stealing, no allocation, and one order of operations per output element. So a request's tokens are the
 * same to the bit in any batch, any chunking, with any number of threads and any vector width.
 *
 * <p>{@code kernel} has the layouts and contracts, {@code scalar} the reference, {@code panama} the Vector API kernels; only that
 * last package may touch {@code jdk.incubator.vector}, and it is loaded only when the module is there.
 *
 * <p>Why not the common pool or virtual threads: a step is some hundred phases of microseconds, and partition by arithmetic is
 * what keeps results independent of timing.
 */
@NullMarked
package io.roseinfer.backend.cpu;

import org.jspecify.annotations.NullMarked;
