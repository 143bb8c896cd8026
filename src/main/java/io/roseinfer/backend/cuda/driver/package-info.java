/**
 * The CUDA driver API for {@code cuda}: calls and result codes, devices, contexts, streams and graphs. Only
 * {@link io.roseinfer.backend.cuda.driver.Driver} calls the presets, and only after
 * {@link io.roseinfer.backend.cuda.driver.CudaLibrary}, so that a machine without a driver never loads them.
 *
 * <p>A context belongs to an OS thread: a thread makes it current for a step
 * ({@link io.roseinfer.backend.cuda.driver.DeviceContext}), and virtual threads load and close models through
 * {@link io.roseinfer.backend.cuda.driver.PlatformThreads}.
 *
 * <p>This package is independent of kernels and models.
 */
@NullMarked
package io.roseinfer.backend.cuda.driver;

import org.jspecify.annotations.NullMarked;
