package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The reader's end of a request. Text is made here, on the reader's thread, unless the request has stop strings: then the engine
 * looks for them in the text and hands it over with the tokens, holding back what may yet become one until it is certain.
 */
final class RequestStream implements TokenStream {
    private final LiveRequest request;
    private final TokenBuffer buffer;
    private final Runnable cancel;
    private final Clock clock;
    private final @Nullable Detokenizer detokenizer;
    private final List<GeneratedToken> tokens = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();
    private boolean complete;

    /**
     * The only stream of a request.
     *
     * @param tokenizer for text; without one there is none
     * @param clock measures how long {@link #poll} waits
     * @param cancel asks the engine to end the request; must not refer to this stream, or it could never be collected
     */
    RequestStream(LiveRequest request, Optional<Tokenizer> tokenizer, Clock clock, Runnable cancel) {
        this.request = request;
        this.buffer = request.tokens();
        this.cancel = cancel;
        this.clock = clock;
        this.detokenizer = buffer.hasText()
                ? null
                : tokenizer.map(t -> t.continuation(true)).orElse(null);
    }

    @Override
    public long requestId() {
        return request.id();
    }

    @Override
    public boolean hasNext() {
        boolean available;
        try {
            available = buffer.await(tokens.size());
        } catch (InterruptedException e) {
            throw interrupted();
        }
        if (!available) {
            endOfStream();
        }
        return available;
    }

    private CancellationException interrupted() {
        close();
        Thread.currentThread().interrupt();
        return new CancellationException("interrupted while waiting for a token; the request was ended");
    }

    private void endOfStream() {
        buffer.ending().flatMap(Ending::failure).ifPresent(failure -> {
            throw failure;
        });
        releaseHeldText();
    }

    @Override
    public Optional<GeneratedToken> poll(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        boolean available;
        try {
            available = buffer.await(tokens.size(), EngineLimits.nanos(timeout), clock);
        } catch (InterruptedException e) {
            throw interrupted();
        }
        if (available) {
            return Optional.of(next());
        }
        if (isExhausted()) {
            endOfStream();
        }
        return Optional.empty();
    }

    @Override
    public void onDelivery(Runnable action) {
        buffer.onDelivery(Objects.requireNonNull(action, "action"));
    }

    @Override
    public boolean isExhausted() {
        return buffer.isEnded() && !buffer.isPublished(tokens.size());
    }

    /**
     * An ending that came without a token makes text certain that was held back, and the last token is the one that carries it:
     * so it does not matter whether that token was read before the ending or after.
     */
    private void releaseHeldText() {
        String rest = tokens.isEmpty() ? "" : rest(tokens.size() - 1);
        if (!rest.isEmpty()) {
            GeneratedToken last = tokens.removeLast();
            tokens.add(new GeneratedToken(last.id(), last.text() + rest, last.logprob(), last.top()));
        }
    }

    @Override
    public GeneratedToken next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the stream has ended");
        }
        int index = tokens.size();
        GeneratedToken token =
                new GeneratedToken(buffer.id(index), piece(index), buffer.logprob(index), buffer.top(index));
        tokens.add(token);
        return token;
    }

    /** The text to show with the next token: what it makes certain, and all that is left with the last. */
    private String piece(int index) {
        String piece = "";
        if (buffer.hasText()) {
            piece = buffer.text(index);
        } else if (detokenizer != null) {
            piece = request.isStopToken(buffer.id(index)) ? "" : detokenizer.push(buffer.id(index));
        }
        text.append(piece);
        return buffer.isLast(index) ? piece + rest(index) : piece;
    }

    /** The text held back until it was known that no token follows; empty the second time. */
    private String rest(int index) {
        if (complete) {
            return "";
        }
        complete = true;
        String rest = "";
        if (buffer.hasText()) {
            rest = buffer.rest(index);
        } else if (detokenizer != null) {
            rest = detokenizer.flush();
        }
        text.append(rest);
        return rest;
    }

    @Override
    public Completion completion() {
        while (hasNext()) {
            next();
        }
        Ending ending = buffer.ending().orElseThrow();
        return new Completion(
                request.promptIds(),
                List.copyOf(tokens),
                buffer.hasText() || detokenizer != null ? Optional.of(text.toString()) : Optional.empty(),
                ending.reason(),
                ending.stopString(),
                request.cachedTokens(),
                request.timeline(),
                request.tag());
    }

    @Override
    public Optional<FinishReason> finishReason() {
        return buffer.ending().map(Ending::reason);
    }

    @Override
    public void close() {
        if (!buffer.isEnded()) {
            cancel.run();
        }
    }
}
