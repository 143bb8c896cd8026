package io.roseinfer.batch;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;

/** The first bytes of a file, with a count of those read. Closing it leaves the file open. */
final class FirstBytes extends FilterInputStream {
    private final long max;
    private final AtomicLong count = new AtomicLong();

    FirstBytes(InputStream file, long max) {
        super(file);
        this.max = max;
    }

    /** Returns the bytes read so far. May be called by any thread. */
    long count() {
        return count.get();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        long before = count.get();
        if (before == max && length > 0) {
            return -1;
        }
        int read = in.read(bytes, offset, (int) Math.min(length, max - before));
        count.set(before + Math.max(0, read));
        return read;
    }

    @Override
    public void close() {}

    @Override
    public long skip(long bytes) {
        throw new UnsupportedOperationException("skip");
    }
}
