/**
 * Kernels on the Vector API, equal to the scalar reference to the bit. The only package that imports
 * {@code jdk.incubator.vector}; no class of it is loaded where the module is missing. The {@code Gemm…Tiles} and
 * {@code Gemv…Tiles} are written by {@code tools/tiles}.
 *
 * <p>Why hidden classes: C2 makes machine instructions of vector code only where the species is a constant. One source compiled
 * once per width, each copy with its own constant, gives that without three texts and without one width's profile spoiling
 * another's. See {@link io.roseinfer.backend.cpu.panama.Specialization}.
 *
 * <p>A vector that a loop carries is an argument of the operation that renews it, never the receiver: write {@code next.add(sum)}
 * for {@code sum.add(next)}. C2 knows the class of a vector just loaded; for one that comes round the loop it has only the profile,
 * and if it compiles the loop before there is one, it boxes the vector in every round, for as long as the process lives.
 */
@NullMarked
package io.roseinfer.backend.cpu.panama;

import org.jspecify.annotations.NullMarked;
