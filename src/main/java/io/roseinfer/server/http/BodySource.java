package io.roseinfer.server.http;

/** What an answer's bytes come from while they are being made. All its methods run on the connection's thread and must not wait. */
public interface BodySource {
    /**
     * Appends what there is by now, a buffer's worth at most; called again when the source is said to be ready, when there is room
     * again, and at once if it has appended {@link ByteSink#PIECE_BYTES} or more. What it throws ends the answer for who waits for it;
     * what it has appended before is written.
     *
     * @return whether that was all: nothing will ever follow
     */
    boolean fill(ByteSink bytes);

    /** The socket has been given all that was appended. */
    void written();
}
