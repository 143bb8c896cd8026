/**
 * The NVIDIA driver as the rest of {@code cuda} sees it: its calls and result codes, the devices it has, contexts, streams and graphs.
 * {@link io.roseinfer.backend.cuda.driver.Driver} is the one class that calls the presets, and it is reached only through
 * {@link io.roseinfer.backend.cuda.driver.CudaLibrary}, so that a machine without a driver never loads them.
 *
 * <p>A context belongs to a thread of the operating system: a thread makes it its own for a step
 * ({@link io.roseinfer.backend.cuda.driver.DeviceContext}), and a virtual one loads and closes a model through
 * {@link io.roseinfer.backend.cuda.driver.PlatformThreads}.
 *
 * <p>Nothing here knows of kernels or models.
 */
@NullMarked
package io.roseinfer.backend.cuda.driver;

import org.jspecify.annotations.NullMarked;
