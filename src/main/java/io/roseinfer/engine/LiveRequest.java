package io.roseinfer.engine;

import io.roseinfer.base.RoseException;
import io.roseinfer.sampling.StopStrings;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A request from the moment it is accepted to its one ending. After the hand-over to the engine's thread only that thread writes. */
final class LiveRequest {
    private final long id;
    private final GenerationRequest request;
    private final long seed;
    private final TokenBuffer buffer;
    private final @Nullable StopStrings stops;
    private final @Nullable Detokenizer detokenizer;

    private final @Nullable RequestEvent event = RequestEvent.begun();
    private @Nullable Sequence sequence;
    private volatile boolean cancelled;

    LiveRequest(long id, GenerationRequest request, long seed, int contextLength, Optional<Tokenizer> tokenizer) {
        this.id = id;
        this.request = request;
        this.seed = seed;
        this.buffer = new TokenBuffer(Math.min(request.maxNewTokens(), contextLength), request.sampling());
        boolean watched = !request.stop().isEmpty() && tokenizer.isPresent();
        this.stops = watched ? new StopStrings(request.stop()) : null;
        this.detokenizer = watched ? tokenizer.get().detokenizer(true) : null;
    }

    long id() {
        return id;
    }

    GenerationRequest request() {
        return request;
    }

    long seed() {
        return seed;
    }

    TokenBuffer buffer() {
        return buffer;
    }

    void cancel() {
        cancelled = true;
    }

    boolean isCancelled() {
        return cancelled;
    }

    /** Ends the request for its reader; only the first ending counts. */
    void end(FinishReason reason, @Nullable RoseException failure, long nanos) {
        if (buffer.end(reason, failure, nanos) && event != null) {
            event.commit(id, reason, buffer);
        }
    }

    void attach(Sequence newSequence) {
        sequence = newSequence;
    }

    Optional<Sequence> sequence() {
        return Optional.ofNullable(sequence);
    }

    /** Why its sequence ended: a stop string that the last of the allowed tokens completes is what ended it. */
    FinishReason endingOf(Sequence ended) {
        FinishReason reason = ended.finishReason().orElseThrow();
        return reason == FinishReason.LENGTH && stops != null && stops.matched() ? FinishReason.STOP : reason;
    }

    /** Whether the text with this token holds a stop string. Costs nothing for requests without any. */
    boolean stopsAt(int token) {
        if (stops == null || detokenizer == null) {
            return false;
        }
        String unused = stops.push(detokenizer.push(token));
        return stops.matched();
    }
}
