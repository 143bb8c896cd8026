/**
 * Sampling of tokens from logits: validated {@link io.roseinfer.sampling.SamplingParams} and
 * {@link io.roseinfer.sampling.TokenConstraints}, a counter-based random stream per request, the reference
 * {@link io.roseinfer.sampling.Sampler}, and stop strings.
 *
 * <p>A token depends only on the logits, the parameters, the seed and the request's own tokens. Each random number is a
 * function of (seed, position), so batching, preemption and replays do not change the results.
 */
@NullMarked
package io.roseinfer.sampling;

import org.jspecify.annotations.NullMarked;
