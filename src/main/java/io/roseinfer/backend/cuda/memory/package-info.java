/**
 * Memory that the device reads and writes: allocations on the device and page-locked ones on the host, and the sizes of a model in
 * them, as the kernels lay it out. Device memory is allocated while a model is loaded and never afterwards.
 *
 * <p>A model's sizes are those of one device's {@link io.roseinfer.backend.cuda.memory.Shard} of it.
 */
@NullMarked
package io.roseinfer.backend.cuda.memory;

import org.jspecify.annotations.NullMarked;
