package io.roseinfer.sampling;

/**
 * The inputs for sampling a request's tokens, except the logits; one object per request.
 *
 * @param params sampling parameters
 * @param seed seed of the request's random stream
 * @param history the request's tokens, read only by penalties; a sample reads them up to its row's first position, and then the row's
 *     own tokens
 */
public record SampleRequest(SamplingParams params, long seed, TokenHistory history) {}
