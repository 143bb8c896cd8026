/**
 * Models on an NVIDIA GPU: own kernels, compiled when roseinfer is built to PTX and to Hopper's machine code, launched through
 * the driver's own interface. Needed at run time are the driver's {@code libcuda.so.1} and {@code libcudart.so.13}, nothing else.
 *
 * <p>A {@code RunnerLoader} uploads a model's weights; a {@code CudaModelRunner} packs a step's inputs, runs the forward pass, by
 * launches or by a captured graph, and waits for its tokens. {@code StepKernels} chooses the kernels and tiles of a step's shape,
 * and a {@code Launcher} hands their arguments to the driver. {@code KernelTarget} selects the compiled images for a device.
 * Below, {@code driver} has the driver's calls and {@code nvtx} a profiler's ranges.
 *
 * <p>The files of {@code kernels/contract} state once what Java and the kernels have to agree on. Tests of {@code TileTable},
 * {@code SampleStructs} and {@code Signatures} check them against both sides; a {@code Launcher} refuses a launch that passes
 * other arguments than declared.
 *
 * <p>Device memory is allocated while a model is loaded and never afterwards; kernels are brought onto the device then, too. One
 * thread uses a runner; steps go through one stream, and the inputs of the next go up through another meanwhile.
 *
 * <p>Everything that belongs to one device is in a {@link io.roseinfer.backend.cuda.CudaRank}, which knows its
 * {@code Shard} of the model; today there is one, and it has all of the model.
 *
 * <p>A step's driver calls are Java's: many in one native call measured no faster.
 *
 * <p>Why not the runtime interface, or a library of kernels: the driver's interface needs no toolkit on the machine, takes PTX as
 * it is, and has every launch attribute; kernels of our own are the point.
 */
@NullMarked
package io.roseinfer.backend.cuda;

import org.jspecify.annotations.NullMarked;
