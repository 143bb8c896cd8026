/**
 * The scalar reference: the oracle that every vector kernel must equal to the bit, written to be read, and what runs where the
 * Vector API is missing. Held against 64-bit arithmetic by tests of its own.
 */
@NullMarked
package io.roseinfer.backend.cpu.scalar;

import org.jspecify.annotations.NullMarked;
