package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The reader's end of a request. Text is made here, on the reader's thread, unless the request has stop strings: then the engine
 * looks for them in the text and hands it over with the tokens, holding back what may yet become one until it is certain.
 *
 * <p>A token that has been read is no object here but a number: a server with a thousand streams has hundreds of thousands of them,
 * which every young collection would copy.
 */
final class RequestStream implements TokenStream {
    private static final int FIRST_TOKENS = 16;

    private final LiveRequest request;
    private final TokenBuffer buffer;
    private final Clock clock;
    private final @Nullable Detokenizer detokenizer;
    private final StringBuilder text = new StringBuilder();
    /** For each token that was read where its text ends in {@link #text}. */
    private int[] ends = new int[FIRST_TOKENS];

    private int read;
    private boolean complete;
    private Runnable cancel;

    /**
     * The only stream of a request.
     *
     * @param tokenizer for text; without one there is none
     * @param clock measures how long {@link #poll} waits
     * @param cancel asks the engine to end the request if it has not ended; must not refer to this stream, or it could never be collected
     */
    RequestStream(LiveRequest request, Optional<Tokenizer> tokenizer, Clock clock, Runnable cancel) {
        this.request = request;
        this.buffer = request.tokens();
        this.clock = clock;
        this.detokenizer = buffer.hasText()
                ? null
                : tokenizer.map(t -> t.continuation(true)).orElse(null);
        this.cancel = cancel;
    }

    /** Has the request ended with this stream, too, if that is collected before it was closed. A closed one leaves nothing with the cleaner. */
    RequestStream endingWhenCollected(Cleaner cleaner) {
        cancel = cleaner.register(this, cancel)::clean;
        return this;
    }

    @Override
    public long requestId() {
        return request.id();
    }

    @Override
    public boolean hasNext() {
        boolean available;
        try {
            available = buffer.await(read);
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
            available = buffer.await(read, EngineLimits.nanos(timeout), clock);
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
        return buffer.isEnded() && !buffer.isPublished(read);
    }

    /**
     * An ending that came without a token makes text certain that was held back, and the last token is the one that carries it:
     * so it does not matter whether that token was read before the ending or after.
     */
    private void releaseHeldText() {
        if (read > 0) {
            String unused = rest();
            ends[read - 1] = text.length();
        }
    }

    @Override
    public GeneratedToken next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the stream has ended");
        }
        int index = read;
        GeneratedToken token =
                new GeneratedToken(buffer.id(index), piece(index), buffer.logprob(index), buffer.top(index));
        if (index == ends.length) {
            ends = Arrays.copyOf(ends, 2 * index);
        }
        ends[index] = text.length();
        read++;
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
        return buffer.isLast(index) ? piece + rest() : piece;
    }

    /** The text held back until it was known that no token follows; empty the second time. */
    private String rest() {
        if (complete) {
            return "";
        }
        complete = true;
        String rest = "";
        if (buffer.hasText()) {
            rest = buffer.rest();
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
        String whole = text.toString();
        return new Completion(
                request.promptIds(),
                buffer.tokens(whole, Arrays.copyOf(ends, read)),
                buffer.hasText() || detokenizer != null ? Optional.of(whole) : Optional.empty(),
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
        cancel.run();
    }
}
