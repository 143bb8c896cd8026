package io.roseinfer.safetensors;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Builds safetensors files byte by byte, broken ones included. */
public final class RawSafetensors {
    private RawSafetensors() {}

    /** Returns a file with this JSON header, its length before it, and {@code dataBytes} bytes 0, 1, 2… after it. */
    static byte[] file(String json, int dataBytes) {
        return file(json.getBytes(StandardCharsets.UTF_8), counting(dataBytes));
    }

    static byte[] file(byte[] json, byte[] data) {
        return withLength(json.length, json, data);
    }

    /** Returns a file whose stated header length may be wrong. */
    static byte[] withLength(long stated, byte[] json, byte[] data) {
        return ByteBuffer.allocate(8 + json.length + data.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(stated)
                .put(json)
                .put(data)
                .array();
    }

    static byte[] counting(int bytes) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) i;
        }
        return data;
    }

    /** Returns consecutive F32 tensors {@code names}, each with {@code values} distinctive floats. */
    public static byte[] floats(List<String> names, int values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values * names.size()).order(ByteOrder.LITTLE_ENDIAN);
        List<String> entries = new ArrayList<>();
        for (int t = 0; t < names.size(); t++) {
            entries.add("\"%s\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%d,%d]}"
                    .formatted(names.get(t), values, 4 * values * t, 4 * values * (t + 1)));
            for (int i = 0; i < values; i++) {
                data.putFloat(valueOf(names.get(t), i));
            }
        }
        String json = "{" + String.join(",", entries) + "}";
        return file(json.getBytes(StandardCharsets.UTF_8), data.array());
    }

    /** Returns the value of {@link #floats} at an index of a tensor. */
    static float valueOf(String name, int index) {
        return name.hashCode() % 1000 + index * 0.25f;
    }

    static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
