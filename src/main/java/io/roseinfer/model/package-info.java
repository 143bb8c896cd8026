/**
 * A model as data for every device: a {@link io.roseinfer.model.ModelSpec} with the shape and the constants of each block, and
 * {@link io.roseinfer.model.Weights}, a tree of matrices and vectors that have not been read yet. Arithmetic is the
 * {@code backend}'s job, which rejects features that it does not support ({@link io.roseinfer.model.ModelFeature}).
 *
 * <p>The names and layouts of a model family's checkpoints are known only to {@code model.family}. Families read
 * {@code config.json} through {@link io.roseinfer.model.ConfigJson} and look up their tensors with a
 * {@link io.roseinfer.model.TensorFinder}; {@link io.roseinfer.model.RandomWeights} makes those tensors from a seed.
 */
@NullMarked
package io.roseinfer.model;

import org.jspecify.annotations.NullMarked;
