package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The reader's end of a request. Text is decoded here, on the reader's thread, unless the request has stop strings.
 * Then the engine decodes it, holds back possible beginnings of stop strings, and delivers it with the tokens.
 *
 * <p>Tokens that were read are kept as numbers, not objects: a server with a thousand streams has hundreds of thousands
 * of them, which every young collection would copy.
 */
final class RequestStream implements TokenStream {
    private static final int INITIAL_TOKENS = 16;

    private final LiveRequest request;
    private final TokenBuffer buffer;
    private final Clock clock;
    private final @Nullable Detokenizer detokenizer;
    private final StringBuilder text = new StringBuilder();
    /** The end of each read token's text in {@link #text}. */
    private int[] ends = new int[INITIAL_TOKENS];

    private int read;
    private boolean complete;
    private Runnable cancel;

    /**
     * Creates the only stream of a request.
     *
     * @param tokenizer decodes the text; empty for no text
     * @param clock limits the waiting of {@link #poll}
     * @param cancel cancels the request if it has not ended; must not refer to this stream, which could then never be
     *     collected
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

    /**
     * Registers the stream with a cleaner that cancels the request if the stream is collected without being closed;
     * closing it removes the registration.
     */
    RequestStream closedWhenCollected(Cleaner cleaner) {
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
        buffer.outcome().flatMap(RequestOutcome::failure).ifPresent(failure -> {
            throw failure;
        });
        appendHeldText();
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
     * Appends held-back text to the last token, if the request ended without a further token. The result does not
     * depend on whether that token was read before or after the end.
     */
    private void appendHeldText() {
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
                new GeneratedToken(buffer.id(index), chunk(index), buffer.logprob(index), buffer.top(index));
        if (index == ends.length) {
            ends = Arrays.copyOf(ends, 2 * index);
        }
        ends[index] = text.length();
        read++;
        return token;
    }

    /** Returns the text to show with a token, and with the last token all remaining text. */
    private String chunk(int index) {
        String chunk = "";
        if (buffer.hasText()) {
            chunk = buffer.text(index);
        } else if (detokenizer != null) {
            chunk = request.isStopToken(buffer.id(index)) ? "" : detokenizer.push(buffer.id(index));
        }
        text.append(chunk);
        return buffer.isLast(index) ? chunk + rest() : chunk;
    }

    /** Returns the text that was held back until the last token; empty on later calls. */
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
        RequestOutcome outcome = buffer.outcome().orElseThrow();
        String fullText = text.toString();
        return new Completion(
                request.promptIds(),
                buffer.tokens(fullText, Arrays.copyOf(ends, read)),
                buffer.hasText() || detokenizer != null ? Optional.of(fullText) : Optional.empty(),
                outcome.reason(),
                outcome.stopString(),
                request.cachedTokens(),
                request.timeline(),
                request.tag(),
                request.promptLogprobs());
    }

    @Override
    public List<PromptToken> promptLogprobs() {
        boolean delivered = buffer.isPublished(0) || buffer.isEnded();
        return delivered ? request.promptLogprobs() : List.of();
    }

    @Override
    public Optional<FinishReason> finishReason() {
        return buffer.outcome().map(RequestOutcome::reason);
    }

    @Override
    public void close() {
        cancel.run();
    }
}
