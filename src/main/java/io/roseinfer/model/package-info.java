/**
 * What a model is: a validated {@link io.roseinfer.model.ModelSpec} read from {@code config.json}, and
 * {@link io.roseinfer.model.Gpt2Weights}, which binds a checkpoint's tensor names and shapes to the slots a forward pass reads.
 * No arithmetic happens here; {@code backend} does that.
 *
 * <p>A field of {@code config.json} that changes the result is either honoured or refused, never ignored.
 */
@NullMarked
package io.roseinfer.model;

import org.jspecify.annotations.NullMarked;
