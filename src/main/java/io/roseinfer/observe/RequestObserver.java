package io.roseinfer.observe;

/**
 * Observes an engine's requests.
 *
 * <p>Calls come from the caller's, the tokenizer's and the engine's threads, concurrently for different requests, so an
 * observer must be thread-safe. It should be fast and must neither throw nor call the engine: an exception fails the calling
 * thread, with an error that names the observer.
 */
@FunctionalInterface
public non-sealed interface RequestObserver extends EngineObserver {

    /** Called at each event; a {@code switch} ignores the others with {@code default}. */
    void on(RequestEvent event);

    /**
     * Called when a mask of the request's grammar has been computed, with drafts also those after tokens that the grammar fixes; on a thread
     * for masks. The request may have ended meanwhile. No {@link RequestEvent}, as it is called for each token and must allocate no memory.
     *
     * @param nanos how long that took, in nanoseconds of the engine's clock
     */
    default void maskComputed(ObservedRequest request, long nanos) {}
}
