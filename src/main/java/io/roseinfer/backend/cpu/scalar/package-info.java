/**
 * The scalar reference kernels, written for readability: vector kernels must be bit-identical to them, and they run if the Vector API is
 * missing. Tests compare them with 64-bit arithmetic.
 */
@NullMarked
package io.roseinfer.backend.cpu.scalar;

import org.jspecify.annotations.NullMarked;
