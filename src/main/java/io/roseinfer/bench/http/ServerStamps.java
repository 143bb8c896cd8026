package io.roseinfer.bench.http;

import java.util.List;

/**
 * When the things happened that the other side did for a request, on the client's clock. A time that is not known is {@link #UNKNOWN}.
 *
 * @param receivedNanos the request was there: its last byte, or the submit call
 * @param parsedNanos it was understood
 * @param tokenizedNanos its prompt was token ids, and it waited to be admitted
 * @param admittedNanos its batch was handed to the scheduler for prefill
 * @param tokenNanos when the engine had each token; tokens of one step share theirs
 * @param readNanos when the thread that answers had taken each token from the engine; empty where nobody says
 * @param writtenNanos when the socket had been given each token's event; empty where nobody says
 * @param served by which engine
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
     * Who served a request.
     *
     * @param engine its number among those that serve together
     * @param cachedTokens tokens of the prompt that its prefix cache had, or -1
     */
    public record Served(int engine, int cachedTokens) {
        /** The only engine, which does not tell what its prefix cache had. */
        public static final Served UNTOLD = new Served(0, -1);
    }

    /** A time that nobody has told. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    public ServerStamps {
        tokenNanos = List.copyOf(tokenNanos);
        readNanos = List.copyOf(readNanos);
        writtenNanos = List.copyOf(writtenNanos);
    }
}
