package io.roseinfer.bench.http;

import java.util.List;

/**
 * The server's timestamps of a request, on the client's clock. Unknown times are {@link #UNKNOWN}.
 *
 * @param receivedNanos when the last byte of the request was received, or the submit call began
 * @param parsedNanos when the request was parsed
 * @param tokenizedNanos when the prompt was tokenized and the request queued
 * @param admittedNanos when its batch was passed to the scheduler for prefill
 * @param tokenNanos when the engine had each token; tokens of one step share a time
 * @param readNanos when the responding thread received each token from the engine; empty if unknown
 * @param writtenNanos when each token's event was written to the socket; empty if unknown
 * @param served the engine that served the request
 */
public record ServerStamps(
        long receivedNanos,
        long parsedNanos,
        long tokenizedNanos,
        long admittedNanos,
        List<Long> tokenNanos,
        List<Long> readNanos,
        List<Long> writtenNanos,
        Served served) {
    /**
     * The engine that served a request.
     *
     * @param engine index of the engine
     * @param cachedTokens prompt tokens found in its prefix cache, or -1
     */
    public record Served(int engine, int cachedTokens) {
        /** The first engine, with unknown cached tokens. */
        public static final Served UNTOLD = new Served(0, -1);
    }

    /** An unknown time. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    public ServerStamps {
        tokenNanos = List.copyOf(tokenNanos);
        readNanos = List.copyOf(readNanos);
        writtenNanos = List.copyOf(writtenNanos);
    }
}
