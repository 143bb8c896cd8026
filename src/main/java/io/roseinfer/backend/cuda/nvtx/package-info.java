/**
 * Ranges for a profiler (NVTX): what the engine and a step are doing, as Nsight Systems shows it beside the kernels.
 *
 * <p>{@link io.roseinfer.backend.cuda.nvtx.NativeLibrary} is a JNI library of our own, made from {@code native/} where there is a C
 * compiler: it has NVTX's header in it. Without it {@link io.roseinfer.backend.cuda.nvtx.Nvtx} does what the header does, by the JDK's
 * foreign functions. Neither needs a GPU or a driver.
 */
@NullMarked
package io.roseinfer.backend.cuda.nvtx;

import org.jspecify.annotations.NullMarked;
