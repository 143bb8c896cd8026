/**
 * The interface between weight formats and models: a {@link io.roseinfer.checkpoint.Checkpoint} has named tensors, checked but
 * not yet read, from a file of any format or from a seed.
 */
@NullMarked
package io.roseinfer.checkpoint;

import org.jspecify.annotations.NullMarked;
