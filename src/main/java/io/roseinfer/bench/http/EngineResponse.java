package io.roseinfer.bench.http;

import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.scheduler.FinishReason;

/**
 * The response of an in-process engine.
 *
 * @param stamps the timestamps around the submit call and in the engine
 * @param finishReason the finish reason
 * @param ids the generated tokens
 */
public record EngineResponse(RequestStamps stamps, FinishReason finishReason, int[] ids) {}
