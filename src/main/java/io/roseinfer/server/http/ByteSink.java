package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing, reusable byte buffer. */
public final class ByteSink {
    /** Maximum bytes that a source should append at a time. */
    public static final int CHUNK_BYTES = 8192;

    private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);
    private static final int SMALLEST = 0x20;

    private byte[] bytes = new byte[2 * CHUNK_BYTES];
    private int size;

    public int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    private void reserve(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(size, more)));
        }
    }

    public void put(byte[] more) {
        reserve(more.length);
        System.arraycopy(more, 0, bytes, size, more.length);
        size += more.length;
    }

    /** Appends text in UTF-8, escaped for a JSON string, without the quotes. */
    public void putJson(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        // The longest escape has six bytes.
        reserve(Math.multiplyExact(6, utf8.length));
        for (byte one : utf8) {
            if (one == '"' || one == '\\' || (one >= 0 && one < SMALLEST)) {
                escape(one);
            } else {
                bytes[size++] = one;
            }
        }
    }

    /** Appends a non-negative number in decimal. */
    public void putNumber(int number) {
        int digits = 1;
        for (int rest = number; rest >= 10; rest /= 10) {
            digits++;
        }
        reserve(digits);
        int left = number;
        for (int at = size + digits - 1; at >= size; at--) {
            bytes[at] = (byte) ('0' + left % 10);
            left /= 10;
        }
        size += digits;
    }

    private void escape(byte one) {
        bytes[size++] = '\\';
        switch (one) {
            case '\b' -> bytes[size++] = 'b';
            case '\t' -> bytes[size++] = 't';
            case '\n' -> bytes[size++] = 'n';
            case '\f' -> bytes[size++] = 'f';
            case '\r' -> bytes[size++] = 'r';
            case '"', '\\' -> bytes[size++] = one;
            default -> {
                bytes[size++] = 'u';
                bytes[size++] = '0';
                bytes[size++] = '0';
                bytes[size++] = HEX[one >> 4];
                bytes[size++] = HEX[one & 0xf];
            }
        }
    }

    void copyTo(ByteBuf target) {
        target.writeBytes(bytes, 0, size);
    }
}
