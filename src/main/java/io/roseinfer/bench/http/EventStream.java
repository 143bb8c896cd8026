package io.roseinfer.bench.http;

import java.util.Arrays;

/**
 * Server-sent events out of bytes that may be cut anywhere. An event's time is that of its last byte. Comments, and fields other than
 * {@code data}, are skipped.
 */
final class EventStream {
    /** Takes the data of an event, which is valid during the call. */
    interface Sink {
        void event(byte[] data, int length, long nanos);
    }

    private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};

    private final Sink sink;
    private byte[] data = new byte[1024];
    private int length;
    private boolean hasData;
    /** Bytes of the line so far; those of a field other than data are counted and not kept. */
    private int lineLength;

    private int lineStart;
    private boolean isData;
    private boolean afterReturn;

    EventStream(Sink sink) {
        this.sink = sink;
    }

    /** Forgets what was before, for the next stream. */
    void reset() {
        length = 0;
        hasData = false;
        lineLength = 0;
        lineStart = 0;
        isData = true;
        afterReturn = false;
    }

    void feed(byte[] bytes, int from, int to, long nanos) {
        for (int i = from; i < to; i++) {
            byte next = bytes[i];
            boolean secondOfTwo = next == '\n' && afterReturn;
            afterReturn = next == '\r';
            if (next == '\n' || next == '\r') {
                if (!secondOfTwo) {
                    endLine(nanos);
                }
            } else {
                add(next);
            }
        }
    }

    private void add(byte next) {
        if (lineLength < DATA.length) {
            isData &= next == DATA[lineLength];
        } else if (isData && !(lineLength == DATA.length && next == ' ')) {
            append(next);
        }
        lineLength++;
    }

    private void append(byte next) {
        if (length == data.length) {
            data = Arrays.copyOf(data, 2 * length);
        }
        data[length++] = next;
    }

    private void endLine(long nanos) {
        if (lineLength == 0) {
            if (hasData) {
                sink.event(data, lineStart - 1, nanos);
            }
            length = 0;
            lineStart = 0;
            hasData = false;
        } else if (isData && lineLength >= DATA.length) {
            append((byte) '\n');
            lineStart = length;
            hasData = true;
        }
        lineLength = 0;
        isData = true;
    }
}
