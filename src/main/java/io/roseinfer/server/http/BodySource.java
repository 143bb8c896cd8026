package io.roseinfer.server.http;

/** Produces the bytes of a response incrementally. All its methods run on the connection's thread and must not wait. */
public interface BodySource {
    /**
     * Appends the available bytes, up to a buffer's worth. It is called when the source is ready, when there is room
     * again, and again at once after it has appended {@link ByteSink#CHUNK_BYTES} or more. An exception ends the
     * response and is thrown to the waiting thread; bytes appended before are written.
     *
     * @return whether that was all: nothing follows
     */
    boolean fill(ByteSink bytes);

    /** Notifies the source that the socket was given all appended bytes. */
    void written();
}
