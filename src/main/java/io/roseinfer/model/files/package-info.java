/**
 * Opens a model: from a directory, from the jar or from a seed. {@link io.roseinfer.model.files.ModelFiles} reads the
 * configuration, chooses the tokenizer, and checks names and shapes of a checkpoint's tensors before any is read.
 */
@NullMarked
package io.roseinfer.model.files;

import org.jspecify.annotations.NullMarked;
