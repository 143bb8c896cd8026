/**
 * Models on an NVIDIA GPU: custom kernels, compiled by the build to PTX and to Hopper cubins, launched through the driver API. At run
 * time only {@code libcuda.so.1} and {@code libcudart.so.13} are needed.
 *
 * <p>A {@code RunnerLoader} uploads a model's weights; a {@code CudaModelRunner} packs a step's inputs, runs the forward pass, by
 * launches or by a captured graph, and waits for its tokens. {@code StepKernels} chooses the kernels and tiles of a step's shape,
 * and a {@code Launcher} passes their arguments to the driver, through a {@code LaunchStream}. {@code KernelTarget} selects the compiled images for a device.
 * Subpackages: {@code driver} for driver calls, {@code nvtx} for profiler ranges.
 *
 * <p>The files of {@code kernels/contract} declare what Java and the kernels must agree on. Tests of {@code TileTable},
 * {@code SampleStructs} and {@code Signatures} check them against both sides; a {@code Launcher} rejects launches with other
 * arguments than declared.
 *
 * <p>Device memory is allocated and kernels are loaded only while a model is loaded. One thread uses a runner. Steps run in one
 * stream; the next step's inputs are uploaded in another.
 *
 * <p>A {@link io.roseinfer.backend.cuda.CudaRank} has everything of one device, with its {@code Shard} of the model; today there is
 * one rank with the whole model.
 *
 * <p>Java makes a step's driver calls one by one: batching them in a native call was no faster.
 *
 * <p>Why the driver API: it needs no toolkit on the machine, loads PTX directly, and has every launch attribute.
 */
@NullMarked
package io.roseinfer.backend.cuda;

import org.jspecify.annotations.NullMarked;
