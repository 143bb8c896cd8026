/**
 * The lowest layer of a CPU forward pass: memory layouts and the contracts of the kernels that read them. The orders of operations
 * stated here hold for every implementation to the bit; that is how results stay independent of batch, chunking, threads and
 * vector width, and how every vector kernel is tested against the scalar one.
 *
 * <p>Why a separate package: {@code scalar} and {@code panama} implement it, {@code cpu} uses both, and no dependency is cyclic.
 */
@NullMarked
package io.roseinfer.backend.cpu.kernel;

import org.jspecify.annotations.NullMarked;
