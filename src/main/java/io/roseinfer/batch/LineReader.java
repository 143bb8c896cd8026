package io.roseinfer.batch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Lines of bytes, however long; of one that is too long its beginning is kept and the rest is read over. */
final class LineReader implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream in;
    private final int maxBytes;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private int from;
    private int to;

    private byte[] line = new byte[0];
    private long number;
    private long end;
    private boolean tooLong;
    private boolean terminated;

    /** @param maxBytes of a line that are kept */
    LineReader(InputStream in, int maxBytes) {
        this.in = in;
        this.maxBytes = maxBytes;
    }

    /** Reads the next line; false if there is none. */
    boolean next() throws IOException {
        kept.reset();
        tooLong = false;
        terminated = false;
        long start = end;
        while (!terminated && fill()) {
            int newline = from;
            while (newline < to && buffer[newline] != '\n') {
                newline++;
            }
            keep(newline - from);
            terminated = newline < to;
            end += newline - from + (terminated ? 1 : 0);
            from = terminated ? newline + 1 : newline;
        }
        line = kept.toByteArray();
        number++;
        return end > start;
    }

    private boolean fill() throws IOException {
        if (from == to) {
            from = 0;
            to = Math.max(0, in.read(buffer));
        }
        return from < to;
    }

    private void keep(int bytes) {
        int room = Math.min(bytes, maxBytes - kept.size());
        kept.write(buffer, from, room);
        tooLong |= room < bytes;
    }

    /** The line without its newline, or the beginning of it. */
    byte[] line() {
        return line;
    }

    /** Its number, from 1. */
    long number() {
        return number;
    }

    /** Whether it is longer than what is kept. */
    boolean isTooLong() {
        return tooLong;
    }

    /** Whether a newline ends it. */
    boolean isTerminated() {
        return terminated;
    }

    /** Bytes up to its end, the newline included. */
    long end() {
        return end;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
