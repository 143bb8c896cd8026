/**
 * Families of models: their {@code config.json} and the names of their tensors, one class each, listed in
 * {@link io.roseinfer.model.family.Families}. A new family is a class, its line in the list and a golden file. Most are a
 * {@link io.roseinfer.model.family.GatedDecoder} with a few differences.
 *
 * <p>A field of {@code config.json} that changes the result is either supported or rejected, never ignored.
 */
@NullMarked
package io.roseinfer.model.family;

import org.jspecify.annotations.NullMarked;
