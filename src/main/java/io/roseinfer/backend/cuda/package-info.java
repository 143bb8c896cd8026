/**
 * Models on an NVIDIA GPU: own kernels, compiled when roseinfer is built to PTX and to Hopper's machine code, launched through
 * the driver's own interface. Needed at run time are the driver's {@code libcuda.so.1} and {@code libcudart.so.13}, nothing else.
 *
 * <p>{@link io.roseinfer.backend.cuda.Driver} is the one class that calls the presets, and it is reached only through
 * {@link io.roseinfer.backend.cuda.CudaLibrary}, so that a machine without a driver never loads them. Device memory is allocated
 * while a model is loaded and never afterwards; {@link io.roseinfer.backend.cuda.DriverEnvironment} makes the driver keep to that
 * too. One thread uses a runner; steps go through one stream, and the inputs of the next go up through another meanwhile.
 *
 * <p>The files of {@code kernels/contract} state once what this package and the kernels have to agree on, and are held to both when
 * a model is loaded: {@link io.roseinfer.backend.cuda.TilePlans}, {@link io.roseinfer.backend.cuda.SampleStructs} and
 * {@link io.roseinfer.backend.cuda.Signatures} refuse what does not fit, by line, by field and by argument.
 *
 * <p>What belongs to one device is a {@link io.roseinfer.backend.cuda.CudaRank}, which knows its
 * {@link io.roseinfer.backend.cuda.Shard} of the model; today there is one, and it has all of the model.
 *
 * <p>Which kernels a device runs, and whether one may start before its predecessor has ended, is
 * {@link io.roseinfer.backend.cuda.KernelTarget}'s to say. A context belongs to a thread of the operating system: a virtual thread
 * makes it its own at every step, and loads and closes a model through {@link io.roseinfer.backend.cuda.PlatformThreads}.
 *
 * <p>{@link io.roseinfer.backend.cuda.NativeLibrary} is a JNI library of our own, made from {@code native/} where there is a C
 * compiler: it has NVTX's header in it. Without it {@link io.roseinfer.backend.cuda.Nvtx} does what the header does, by the JDK's
 * foreign functions. A step's driver calls are Java's all the same: many in one native call measured no faster.
 *
 * <p>Why not the runtime interface, or a library of kernels: the driver's interface needs no toolkit on the machine, takes PTX as
 * it is, and has every launch attribute; kernels of our own are the point.
 */
@NullMarked
package io.roseinfer.backend.cuda;

import org.jspecify.annotations.NullMarked;
