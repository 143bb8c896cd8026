/**
 * How a token is chosen from logits: validated {@link io.roseinfer.sampling.SamplingParams}, a counter-based random stream per
 * request, the reference {@link io.roseinfer.sampling.Sampler}, and the rules that end a completion.
 *
 * <p>A token depends on the logits, the parameters, the seed and the request's own tokens alone. The random number of a draw is
 * a function of (seed, position), so batches, preemption and replays cannot shift the stream.
 */
@NullMarked
package io.roseinfer.sampling;

import org.jspecify.annotations.NullMarked;
