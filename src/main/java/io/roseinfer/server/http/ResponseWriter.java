package io.roseinfer.server.http;

import java.util.Map;

/**
 * The answer to one call, as who makes it sees it: either {@link #send}, or {@link #begin}, any number of {@link #write} and
 * {@link #end}. What comes bit by bit is better left to a {@link #pump}, which must be over before anything else is written. One
 * thread writes at a time. A write waits while the client is slow, for a bounded time and behind a bounded buffer.
 */
public interface ResponseWriter {
    /** The client has left, or was cut because it took nothing for too long. Nothing more can be told to it. */
    final class ClientGone extends RuntimeException {
        public ClientGone(String message) {
            super(message);
        }
    }

    /**
     * Sends a whole answer, and waits until the system has it.
     *
     * @throws ClientGone if the client has left or takes nothing
     */
    void send(Reply reply);

    /** Begins an answer whose length is not known; its head goes out with the first write. */
    void begin(int status, Map<String, String> headers);

    /**
     * Writes the next bytes of the answer and flushes them. The array belongs to the writer from then on.
     *
     * @throws ClientGone if the client has left or takes nothing
     */
    void write(byte[] bytes);

    /** Moves what a source makes, once it is ready; the source begins the answer itself unless it has begun. */
    Pump pump(BodySource source);

    /**
     * Ends the answer, and waits until the system has it.
     *
     * @throws ClientGone if the client has left or takes nothing
     */
    void end();

    /** Whether {@link #send} or {@link #begin} has been called. */
    boolean hasBegun();

    /** Closes the connection, so that the client sees that the answer is not whole. */
    void abort();

    /**
     * Runs an action once if the client leaves before the answer is whole, at once if it has left already. It runs on a thread that
     * serves many connections: it must be quick. A later action replaces an earlier one.
     */
    void whenGone(Runnable action);
}
