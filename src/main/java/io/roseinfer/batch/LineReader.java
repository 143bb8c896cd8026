package io.roseinfer.batch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Splits a stream into lines. Of a line that is too long, only the beginning is kept. */
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

    /**
     * Creates a reader.
     *
     * @param maxBytes maximum bytes of a line that are kept
     */
    LineReader(InputStream in, int maxBytes) {
        this.in = in;
        this.maxBytes = maxBytes;
    }

    /** Reads the next line, and returns whether there is one. */
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

    /** Returns the line without its newline, or its beginning. */
    byte[] line() {
        return line;
    }

    /** Returns its number, from 1. */
    long number() {
        return number;
    }

    /** Returns whether it is longer than what is kept. */
    boolean isTooLong() {
        return tooLong;
    }

    /** Returns whether a newline terminates it. */
    boolean isTerminated() {
        return terminated;
    }

    /** Returns the bytes up to its end, including the newline. */
    long end() {
        return end;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
