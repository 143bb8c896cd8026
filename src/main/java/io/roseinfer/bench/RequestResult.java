package io.roseinfer.bench;

import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.scheduler.FinishReason;
import java.util.List;

/**
 * What became of one accepted request.
 *
 * @param id its index in the workload
 * @param promptTokens length of its prompt as the model saw it
 * @param cachedTokens tokens of its prompt that the prefix cache had
 * @param stamps when everything happened
 * @param finishReason why it ended
 * @param ids the tokens it made
 */
public record RequestResult(
        int id,
        int promptTokens,
        int cachedTokens,
        RequestStamps stamps,
        FinishReason finishReason,
        List<Integer> ids) {
    public RequestResult {
        ids = List.copyOf(ids);
    }
}
