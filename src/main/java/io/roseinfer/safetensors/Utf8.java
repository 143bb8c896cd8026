package io.roseinfer.safetensors;

import io.roseinfer.base.RoseException.BadModel;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Strict UTF-8. A JSON parser guesses other encodings from NUL bytes and skips a byte order mark, which a safetensors
 * header must not have, so this check runs first.
 */
final class Utf8 {
    private static final int CHUNK_CHARS = 8192;

    private Utf8() {}

    /** Throws for malformed UTF-8, a byte order mark or a NUL byte, with the offset of the first. */
    static void requireText(String file, byte[] header) {
        ByteBuffer bytes = ByteBuffer.wrap(header);
        if (header.length >= 3 && header[0] == (byte) 0xef && header[1] == (byte) 0xbb && header[2] == (byte) 0xbf) {
            throw new BadModel(file + ": header starts with a byte order mark, which is not allowed");
        }
        for (int i = 0; i < header.length; i++) {
            if (header[i] == 0) {
                throw new BadModel(file + ": header byte " + i
                        + " is NUL, which is not allowed in JSON; header padding must be spaces");
            }
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        CharBuffer scratch = CharBuffer.allocate(CHUNK_CHARS);
        CoderResult result;
        do {
            result = decoder.decode(bytes, scratch.clear(), true);
        } while (result.isOverflow());
        if (result.isError()) {
            throw new BadModel(file + ": header byte " + bytes.position() + " is not valid UTF-8");
        }
    }
}
