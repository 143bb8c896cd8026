package io.roseinfer.engine;

import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;

/**
 * The tokens of one request, in order, as they are made. One thread reads it; closing it at any moment, from any thread and any
 * number of times, ends the request and returns its KV blocks. A stream that is dropped without being closed is ended when it is
 * garbage-collected.
 *
 * <p>The text of the tokens read is the text of {@link #completion}, with one exception: a request with stop strings holds back text that
 * may become one. If such a request is ended between two tokens, by its deadline or its caller, the completion alone has that text.
 */
public interface TokenStream extends Iterator<GeneratedToken>, AutoCloseable {

    /** The engine's number for this request. */
    long requestId();

    /**
     * Waits for the next token or the end.
     *
     * @return whether {@link #next} has a token
     * @throws io.roseinfer.base.RoseException the reason, if the request failed
     * @throws java.util.concurrent.CancellationException if the caller is interrupted; the request is ended and the interrupt still set
     * @throws IllegalStateException if another thread waits for this stream, or if it would wait in an action of {@link #onDelivery}, of
     *     this stream or another
     */
    @Override
    boolean hasNext();

    /**
     * Waits for the next token for a limited time, so that a reader can do something else meanwhile: keep a connection alive, or give
     * up. No token may also mean the end, which {@link #isExhausted} tells apart.
     *
     * @param timeout how long; zero or less looks without waiting
     * @return the token, which counts as read; empty if there was none in time or none follows
     * @throws io.roseinfer.base.RoseException the reason, if the request failed
     * @throws java.util.concurrent.CancellationException as {@link #hasNext}
     * @throws IllegalStateException as {@link #hasNext}, where it would wait
     */
    Optional<GeneratedToken> poll(Duration timeout);

    /**
     * Runs an action after every delivery of tokens and at the end, so that one thread can read hundreds of streams without waiting for
     * any. The action runs on the thread that delivers, which is mostly the engine's. If something has been delivered already it also runs
     * at once, on the caller's thread. It must not wait, allocate or read the stream. Instead it wakes a reader, which reads by
     * {@link #poll} without waiting. What it throws is dropped, on either thread. A later action replaces an earlier one.
     *
     * <p>The engine drops the action when the request ends. Until then an action that refers to the stream keeps it from being
     * collected, so such a stream must be closed.
     */
    void onDelivery(Runnable action);

    /** Whether the request has ended and all its tokens have been read. Never waits. */
    boolean isExhausted();

    /**
     * Waits for the end and returns everything, tokens that were read before included.
     *
     * @throws io.roseinfer.base.RoseException the reason, if the request failed
     * @throws java.util.concurrent.CancellationException as {@link #hasNext}
     * @throws IllegalStateException as {@link #hasNext}
     */
    Completion completion();

    /**
     * Why the request ended; empty while it runs. Never waits: right after {@link #close} it may still be empty, because the engine ends
     * the request between two steps. {@link #completion} waits for that.
     */
    Optional<FinishReason> finishReason();

    /**
     * Asks the engine to end the request if it still runs, and does not wait until it has. Harmless afterwards. Tokens that were
     * delivered stay readable, with those that the step in flight still delivers: {@link #next}, {@link #poll} and {@link #completion}
     * go on as before, and behind the last token is the end, whose reason is {@link FinishReason#CANCELLED} unless the request had ended
     * by itself.
     */
    @Override
    void close();
}
