package io.roseinfer.batch;

import io.roseinfer.engine.Completion;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CompletionCall;
import java.util.List;

/**
 * The response to a line.
 *
 * @param bytes a line of the output; empty if nothing is written, because the completions were cancelled
 * @param refused whether it is an error
 * @param promptTokens of the call
 * @param completionTokens of all completions
 */
record BatchResponse(byte[] bytes, boolean refused, int promptTokens, int completionTokens) {
    /** No response: the line is left for another run. */
    static final BatchResponse NONE = new BatchResponse(new byte[0], false, 0, 0);

    static BatchResponse of(BatchLine.Request line, CompletionCall call, List<Completion> done, BatchModel model) {
        if (done.stream().anyMatch(completion -> completion.finishReason() == FinishReason.CANCELLED)) {
            return NONE;
        }
        int tokens =
                done.stream().mapToInt(completion -> completion.tokens().size()).sum();
        return new BatchResponse(model.response(line, call, done), false, call.promptTokens(), tokens);
    }

    static BatchResponse refusal(BatchLine line, ApiError error) {
        return new BatchResponse(BatchModel.refusal(line, error), true, 0, 0);
    }

    boolean isNone() {
        return bytes.length == 0;
    }
}
