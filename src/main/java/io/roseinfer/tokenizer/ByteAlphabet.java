package io.roseinfer.tokenizer;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The reversible map between bytes and printable characters used by byte-level vocabularies, {@code bytes_to_unicode}
 * of GPT-2's {@code encoder.py}. Printable Latin-1 bytes map to themselves, the other 68 to U+0100 onwards in byte
 * order. A space is {@code Ġ}, a newline {@code Ċ}.
 */
final class ByteAlphabet {
    public static final int SIZE = 256;

    private static final char[] SYMBOLS = new char[SIZE];
    private static final short[] BYTES = new short[SIZE + 68];

    static {
        Arrays.fill(BYTES, (short) -1);
        char next = SIZE;
        for (int value = 0; value < SIZE; value++) {
            boolean printable = (value >= '!' && value <= '~') || (value >= 0xa1 && value != 0xad);
            char symbol = printable ? (char) value : next++;
            SYMBOLS[value] = symbol;
            BYTES[symbol] = (short) value;
        }
    }

    private ByteAlphabet() {}

    /** Returns the character for a byte (0..255). */
    public static char symbol(int unsignedByte) {
        return SYMBOLS[unsignedByte];
    }

    /** Returns the characters for {@code bytes}. */
    public static String symbols(byte[] bytes) {
        char[] symbols = new char[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            symbols[i] = SYMBOLS[bytes[i] & 0xff];
        }
        return new String(symbols);
    }

    /**
     * Returns the bytes of a vocabulary entry. An entry with any character outside the alphabet is text, as in Hugging
     * Face's decoder.
     */
    public static byte[] bytes(String token) {
        byte[] bytes = new byte[token.length()];
        for (int i = 0; i < bytes.length; i++) {
            char symbol = token.charAt(i);
            if (symbol >= BYTES.length || BYTES[symbol] < 0) {
                return token.getBytes(StandardCharsets.UTF_8);
            }
            bytes[i] = (byte) BYTES[symbol];
        }
        return bytes;
    }

    /** Returns the text of a vocabulary entry, if it is in the alphabet and its bytes are complete characters. */
    public static Optional<String> text(String token) {
        if (!token.chars().allMatch(symbol -> symbol < BYTES.length && BYTES[symbol] >= 0)) {
            return Optional.empty();
        }
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes(token)))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }
}
