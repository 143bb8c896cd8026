/**
 * The seam between formats of weight files and models: a {@link io.roseinfer.checkpoint.Checkpoint} is named tensors, checked but not
 * read, whatever file or seed they come from.
 */
@NullMarked
package io.roseinfer.checkpoint;

import org.jspecify.annotations.NullMarked;
