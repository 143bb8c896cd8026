/**
 * Models on an NVIDIA GPU: own kernels, compiled when roseinfer is built to PTX and to Hopper's machine code, launched through
 * the driver's own interface. Needed at run time are the driver's {@code libcuda.so.1} and {@code libcudart.so.13}, nothing else.
 *
 * <p>Four packages lie below, each of which sees those after it: {@code launch} has the kernels and how a step chooses and launches
 * them, {@code memory} what the device reads and writes, {@code driver} the driver's calls; {@code nvtx} has a profiler's ranges, and
 * needs none of them. This package puts them together: it loads a model, packs a step's inputs, runs the forward pass, by
 * launches or by a captured graph, and waits for its tokens.
 *
 * <p>Device memory is allocated while a model is loaded and never afterwards; kernels are brought onto the device then, too. One
 * thread uses a runner; steps go through one stream, and the inputs of the next go up through another meanwhile.
 *
 * <p>Everything that belongs to one device is in a {@link io.roseinfer.backend.cuda.CudaRank}, which knows its
 * {@link io.roseinfer.backend.cuda.memory.Shard} of the model; today there is one, and it has all of the model.
 *
 * <p>A step's driver calls are Java's: many in one native call measured no faster.
 *
 * <p>Why not the runtime interface, or a library of kernels: the driver's interface needs no toolkit on the machine, takes PTX as
 * it is, and has every launch attribute; kernels of our own are the point.
 */
@NullMarked
package io.roseinfer.backend.cuda;

import org.jspecify.annotations.NullMarked;
