/**
 * Which kernels a step runs and how they are launched: the compiled images a build carries, their modules on a device, the tiles
 * and kernels of a step's shape, and the {@link io.roseinfer.backend.cuda.launch.Launcher} that hands arguments to the driver.
 *
 * <p>{@link io.roseinfer.backend.cuda.launch.KernelTarget} says which images a device runs, and whether a kernel may start before its
 * predecessor has ended.
 *
 * <p>The files of {@code kernels/contract} state once what Java and the kernels have to agree on, and are held to both when a model is
 * loaded: {@link io.roseinfer.backend.cuda.launch.TileTable}, {@link io.roseinfer.backend.cuda.launch.SampleStructs} and
 * {@link io.roseinfer.backend.cuda.launch.Signatures} refuse what does not fit, by line, by field and by argument.
 */
@NullMarked
package io.roseinfer.backend.cuda.launch;

import org.jspecify.annotations.NullMarked;
