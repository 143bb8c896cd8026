package io.roseinfer.server;

import io.roseinfer.engine.TokenStream;
import java.util.ArrayList;
import java.util.List;

/** The streams of one call, which are closed together; streams added later are closed at once. */
final class OpenStreams implements AutoCloseable {
    private final List<TokenStream> streams = new ArrayList<>();
    private boolean closed;

    synchronized void add(TokenStream stream) {
        streams.add(stream);
        if (closed) {
            stream.close();
        }
    }

    synchronized List<TokenStream> all() {
        return List.copyOf(streams);
    }

    /** Cancels the streams still running. May be called by any thread, any number of times. */
    @Override
    public synchronized void close() {
        closed = true;
        streams.forEach(TokenStream::close);
    }
}
