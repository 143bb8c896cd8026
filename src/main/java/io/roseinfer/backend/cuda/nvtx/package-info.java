/**
 * NVTX profiler ranges of the engine and its steps, as shown by Nsight Systems next to the kernels.
 *
 * <p>{@link io.roseinfer.backend.cuda.nvtx.NativeLibrary} loads a JNI library built from {@code native/} with NVTX's header, if there was
 * a C compiler. Without it {@link io.roseinfer.backend.cuda.nvtx.Nvtx} does the same by the JDK's foreign functions. Neither needs a
 * GPU or a driver.
 */
@NullMarked
package io.roseinfer.backend.cuda.nvtx;

import org.jspecify.annotations.NullMarked;
