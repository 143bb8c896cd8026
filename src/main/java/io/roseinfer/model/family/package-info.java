/**
 * Families of models: how {@code config.json} and tensors are named, one class each, listed in
 * {@link io.roseinfer.model.family.Families}. A new family is its class, its line in the list and a golden. Most are a
 * {@link io.roseinfer.model.family.GatedDecoder} but for a few facts, which are all that their classes hold.
 *
 * <p>A field of {@code config.json} that changes the result is either supported or refused, never ignored.
 */
@NullMarked
package io.roseinfer.model.family;

import org.jspecify.annotations.NullMarked;
