/**
 * Kernels on the Vector API, equal to the scalar reference to the bit. The only package that imports
 * {@code jdk.incubator.vector}; no class of it is loaded where the module is missing.
 *
 * <p>Why hidden classes: C2 makes machine instructions of vector code only where the species is a constant. One source compiled
 * once per width, each copy with its own constant, gives that without three texts and without one width's profile spoiling
 * another's. See {@link io.roseinfer.backend.cpu.panama.Specialization}.
 */
@NullMarked
package io.roseinfer.backend.cpu.panama;

import org.jspecify.annotations.NullMarked;
