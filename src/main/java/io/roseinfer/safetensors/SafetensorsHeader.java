package io.roseinfer.safetensors;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The validated header of a safetensors file: eight bytes of little-endian length N, then N bytes of JSON; the data
 * follows.
 *
 * @param tensors by name, in file order
 * @param headerBytes N
 */
record SafetensorsHeader(Map<String, TensorEntry> tensors, int headerBytes) {
    /** Bytes of the length before the JSON. */
    static final int PREFIX_BYTES = 8;

    /** Reads N, which is unsigned, and checks it against {@link Limits#SAFETENSORS_HEADER_BYTES}. */
    static int length(String file, byte[] prefix) {
        long length = ByteBuffer.wrap(prefix).order(ByteOrder.LITTLE_ENDIAN).getLong();
        if (Long.compareUnsigned(length, Limits.SAFETENSORS_HEADER_BYTES) > 0) {
            throw new BadModel(
                    file + ": header too large: the file states " + Long.toUnsignedString(length) + " bytes, at most "
                            + Limits.SAFETENSORS_HEADER_BYTES + " are allowed; it is not a safetensors file");
        }
        return (int) length;
    }

    static BadModel tooSmall(String file, long bytes) {
        return new BadModel(file + ": too small for a safetensors file: " + bytes + " bytes, at least " + PREFIX_BYTES
                + " are needed; download it again");
    }

    static SafetensorsHeader parse(String file, byte[] json) {
        if (json.length == 0) {
            throw new BadModel(file + ": empty JSON header (stated length 0); download it again");
        }
        List<TensorEntry> entries = HeaderLayout.inFileOrder(file, HeaderJson.parse(file, json));
        Map<String, TensorEntry> tensors = LinkedHashMap.newLinkedHashMap(entries.size());
        entries.forEach(entry -> tensors.put(entry.name(), entry));
        return new SafetensorsHeader(Collections.unmodifiableMap(tensors), json.length);
    }

    /** Returns the offset of the data in the file. */
    long dataStart() {
        return PREFIX_BYTES + (long) headerBytes;
    }

    /** Returns the bytes of all tensors together. */
    long dataBytes() {
        long end = 0;
        for (TensorEntry entry : tensors.values()) {
            end = entry.end();
        }
        return end;
    }

    /** Throws if the data is shorter or longer than the tensors. */
    void requireDataBytes(String file, long bytes) {
        if (bytes < dataBytes()) {
            throw new BadModel(file + ": truncated: the header describes " + dataBytes()
                    + " bytes of data, the file has " + bytes + "; download it again");
        }
        if (bytes > dataBytes()) {
            throw new BadModel(file + ": " + (bytes - dataBytes()) + " trailing bytes after the last tensor, none are"
                    + " allowed; the file was appended to or written wrongly");
        }
    }
}
