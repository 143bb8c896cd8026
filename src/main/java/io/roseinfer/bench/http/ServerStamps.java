package io.roseinfer.bench.http;

import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The server's timestamps of a request, on the client's clock. Unknown times are {@link #UNKNOWN}. The arrays are not
 * copied and must not be modified.
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
        long[] tokenNanos,
        long[] readNanos,
        long[] writtenNanos,
        Served served) {
    /**
     * The engine that served a request.
     *
     * @param engine index of the engine, or of the last one
     * @param cachedTokens prompt tokens found in the prefix cache of the first one, or -1
     * @param prefillEngine index of the engine of the first token, if another one decoded
     */
    public record Served(int engine, int cachedTokens, OptionalInt prefillEngine) {
        /** The first engine, with unknown cached tokens. */
        public static final Served UNTOLD = new Served(0, -1);

        /** Creates the engine of a request that was served by one. */
        public Served(int engine, int cachedTokens) {
            this(engine, cachedTokens, OptionalInt.empty());
        }

        /** Returns the index of the engine of the first token. */
        public int firstEngine() {
            return prefillEngine.orElse(engine);
        }
    }

    /** An unknown time. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    /** Returns whether {@code other} has equal times and engine. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ServerStamps that
                && receivedNanos == that.receivedNanos
                && parsedNanos == that.parsedNanos
                && tokenizedNanos == that.tokenizedNanos
                && admittedNanos == that.admittedNanos
                && Arrays.equals(tokenNanos, that.tokenNanos)
                && Arrays.equals(readNanos, that.readNanos)
                && Arrays.equals(writtenNanos, that.writtenNanos)
                && served.equals(that.served);
    }

    @Override
    public int hashCode() {
        return Objects.hash(receivedNanos, admittedNanos, Arrays.hashCode(tokenNanos), served);
    }

    @Override
    public String toString() {
        return "ServerStamps[receivedNanos=" + receivedNanos + ", parsedNanos=" + parsedNanos + ", tokenizedNanos="
                + tokenizedNanos + ", admittedNanos=" + admittedNanos + ", tokenNanos=" + Arrays.toString(tokenNanos)
                + ", readNanos=" + Arrays.toString(readNanos) + ", writtenNanos=" + Arrays.toString(writtenNanos)
                + ", served=" + served + "]";
    }
}
