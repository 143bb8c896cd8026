/**
 * Families of models: how {@code config.json} and tensors are spelt, one class each, listed in
 * {@link io.roseinfer.model.family.Families}; and {@link io.roseinfer.model.family.ModelFiles}, which opens a model of any of them.
 * A new family is its class, its line in the list and a golden. Most are a {@link io.roseinfer.model.family.GatedDecoder} but for a
 * few facts, which are all that their classes hold.
 *
 * <p>A field of {@code config.json} that changes the result is either honoured or refused, never ignored.
 */
@NullMarked
package io.roseinfer.model.family;

import org.jspecify.annotations.NullMarked;
