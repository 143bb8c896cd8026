package io.roseinfer.bench.http;

import java.util.Arrays;

/**
 * Incremental parser of server-sent events. The time of an event is that of its last byte. Comments and fields other than {@code data}
 * are ignored.
 */
final class EventStream {
    /** Receiver of event data, which is valid only during the call. */
    interface Sink {
        void event(byte[] data, int length, long nanos);
    }

    private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};

    private final Sink sink;
    private byte[] data = new byte[1024];
    private int length;
    private boolean hasData;
    /** Length of the line so far; bytes of other fields are counted but not kept. */
    private int lineLength;

    private int lineStart;
    private boolean isData;
    private boolean afterReturn;

    EventStream(Sink sink) {
        this.sink = sink;
    }

    /** Resets the parser for the next stream. */
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
