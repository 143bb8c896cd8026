/**
 * A model as data that every device reads: a {@link io.roseinfer.model.ModelSpec} with the shape and the constants of
 * each block, and {@link io.roseinfer.model.Weights}, a tree of matrices and vectors that know where their values are stored and
 * how, but have not been read. No arithmetic happens here; {@code backend} does that. A backend refuses, by
 * {@link io.roseinfer.model.ModelFeature}, what it cannot run.
 *
 * <p>How the checkpoints of a family of models spell all this is {@code model.family}'s to know: nothing here, and nothing in a
 * backend, names one. Families read {@code config.json} through {@link io.roseinfer.model.ConfigJson} and look their tensors up
 * with a {@link io.roseinfer.model.TensorFinder}; {@link io.roseinfer.model.RandomWeights} makes what is looked up from a seed.
 */
@NullMarked
package io.roseinfer.model;

import org.jspecify.annotations.NullMarked;
