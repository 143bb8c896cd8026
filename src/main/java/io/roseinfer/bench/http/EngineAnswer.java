package io.roseinfer.bench.http;

import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.scheduler.FinishReason;

/**
 * An answer of an engine in this process.
 *
 * @param stamps the timestamps of the request: those around the submit call, and the engine's own
 * @param finishReason why it ended
 * @param ids the generated tokens
 */
public record EngineAnswer(RequestStamps stamps, FinishReason finishReason, int[] ids) {}
