package io.roseinfer.sampling;

/**
 * What choosing a request's next token needs besides the logits; one object for a request's whole life.
 *
 * @param params how to choose
 * @param seed the request's random stream
 * @param history the request's tokens, read by penalties only
 */
public record SampleRequest(SamplingParams params, long seed, TokenHistory history) {}
