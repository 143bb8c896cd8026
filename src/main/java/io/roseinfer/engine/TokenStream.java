package io.roseinfer.engine;

import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The tokens of one request, in order, as they are generated. One thread may read it. Closing it, from any thread and
 * repeatedly, ends the request and releases its KV blocks. If it becomes unreachable without being closed, the request
 * is ended on garbage collection.
 *
 * <p>The text of the tokens read is the text of {@link #completion}, with one exception: a request with stop strings
 * holds back text that may be part of one. If such a request is ended between two tokens, by its deadline or its
 * caller, only the completion has that text.
 */
public interface TokenStream extends Iterator<GeneratedToken>, AutoCloseable {

    /** Returns the engine's id of this request. */
    long requestId();

    /**
     * Waits for the next token or the end.
     *
     * @return whether {@link #next} has a token
     * @throws io.roseinfer.base.RoseException the cause, if the request failed
     * @throws java.util.concurrent.CancellationException if the caller is interrupted; the request is ended and the
     *     interrupt status remains set
     * @throws IllegalStateException if another thread, named in the message, already waits for this stream; or if an
     *     action of any stream's {@link #onDelivery} would have to wait
     */
    @Override
    boolean hasNext();

    /**
     * Waits for the next token, reads it and returns it.
     *
     * @throws java.util.NoSuchElementException if the request has ended and all its tokens were read
     * @throws io.roseinfer.base.RoseException the cause, if the request failed
     * @throws java.util.concurrent.CancellationException like {@link #hasNext}
     * @throws IllegalStateException like {@link #hasNext}
     */
    @Override
    GeneratedToken next();

    /**
     * Waits for the next token for a limited time, so that the reader can do something else meanwhile, such as keeping
     * a connection alive. An empty result may also mean the end, see {@link #isExhausted}.
     *
     * @param timeout maximum time; zero or less does not wait
     * @return the token, which then counts as read; empty if there was none in time, or at the end
     * @throws io.roseinfer.base.RoseException the cause, if the request failed
     * @throws java.util.concurrent.CancellationException like {@link #hasNext}
     * @throws IllegalStateException like {@link #hasNext}, if it would wait
     */
    Optional<GeneratedToken> poll(Duration timeout);

    /**
     * Sets an action to run after every delivery of tokens and at the end, so that one thread can read hundreds of
     * streams without blocking. The action runs on the delivering thread, usually the engine's. If something was
     * already delivered, it also runs immediately on the caller's thread. It must not block, allocate memory or read
     * the stream. Instead it wakes a reader that calls {@link #poll} without waiting. Exceptions that it throws are
     * ignored. A later action replaces an earlier one.
     *
     * <p>The engine drops the action when the request ends. Until then an action that refers to the stream keeps it
     * reachable, so such a stream must be closed.
     */
    void onDelivery(Runnable action);

    /** Returns whether the request has ended and all its tokens have been read. Does not block. */
    boolean isExhausted();

    /**
     * Waits for the end and returns the whole completion, including tokens already read.
     *
     * @throws io.roseinfer.base.RoseException the cause, if the request failed
     * @throws java.util.concurrent.CancellationException like {@link #hasNext}
     * @throws IllegalStateException like {@link #hasNext}
     */
    Completion completion();

    /**
     * Returns the prompt's tokens with log-probabilities, like {@link Completion#promptLogprobs}; also empty before the
     * first token or the end has been delivered. Does not block.
     */
    List<PromptToken> promptLogprobs();

    /**
     * Returns why the request ended; empty while it runs. Does not block. It may still be empty right after
     * {@link #close}, because the engine ends requests between steps. {@link #completion} waits for that.
     */
    Optional<FinishReason> finishReason();

    /**
     * Asks the engine to end the request if it still runs, without waiting for that. No effect afterwards. Delivered
     * tokens stay readable, including those that the step in flight still delivers, with {@link #next}, {@link #poll}
     * and {@link #completion}. After the last token the stream ends with {@link FinishReason#CANCELLED}, unless the
     * request had already ended.
     */
    @Override
    void close();
}
