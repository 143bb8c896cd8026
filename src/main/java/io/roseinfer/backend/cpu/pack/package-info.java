/**
 * Packing of weights: from a checkpoint's rows to the panels that {@code kernel} lays down, in the checkpoint's type, in INT8 or in
 * INT4. It happens once, at load.
 */
@NullMarked
package io.roseinfer.backend.cpu.pack;

import org.jspecify.annotations.NullMarked;
