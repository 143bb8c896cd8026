package io.roseinfer.hub;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/** The body of a response, whose read fails if nothing arrives for a time. */
final class TimedBody extends FilterInputStream {
    private final Duration stall;
    private final Thread watch;
    private volatile boolean arrived;
    private volatile boolean stalled;

    /**
     * Creates a body that is watched until it is closed.
     *
     * @param stall maximum time without data
     */
    TimedBody(InputStream body, Duration stall) {
        super(body);
        this.stall = stall;
        this.watch = Thread.ofVirtual().name("download-watch").unstarted(this::closeOnStall);
        watch.start();
    }

    private void closeOnStall() {
        try {
            do {
                arrived = false;
                Thread.sleep(stall);
            } while (arrived);
            stalled = true;
            in.close();
        } catch (InterruptedException | IOException closed) {
            // The body was closed.
        }
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
        try {
            int bytes = in.read(buffer, offset, length);
            arrived = true;
            return bytes;
        } catch (IOException e) {
            if (stalled) {
                throw (IOException) new HttpTimeoutException("nothing arrived for " + stall).initCause(e);
            }
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        watch.interrupt();
        in.close();
    }
}
