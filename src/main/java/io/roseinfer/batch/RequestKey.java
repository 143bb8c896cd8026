package io.roseinfer.batch;

import io.roseinfer.base.SplitMix64;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Identifies a line of a batch by 126 bits: a hash of its custom id, or of its number if it has none. Ids of responses
 * and seeds derive from it, so they are the same in every run, regardless of order and retries.
 *
 * @param high the upper 64 bits
 * @param low the lower ones, the last two zero: a table keeps the key's state there
 */
public record RequestKey(long high, long low) {
    /** Characters of its text. */
    static final int TEXT_CHARS = 32;

    private static final long STATE_BITS = 3;
    private static final HexFormat HEX = HexFormat.of();

    public RequestKey {
        if ((low & STATE_BITS) != 0) {
            throw new IllegalArgumentException("the last two bits of a key are " + (low & STATE_BITS) + ", not zero");
        }
    }

    /** Returns the key of a custom id. */
    public static RequestKey of(String customId) {
        return hashed("id:" + customId);
    }

    /** Returns the key of a line without a custom id, by its number. */
    public static RequestKey ofLine(long number) {
        return hashed("line:" + number);
    }

    private static RequestKey hashed(String text) {
        byte[] hash = sha256().digest(text.getBytes(StandardCharsets.UTF_8));
        return new RequestKey(bigEndian(hash, 0), bigEndian(hash, Long.BYTES) & ~STATE_BITS);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException everyJavaHasIt) {
            throw new IllegalStateException(everyJavaHasIt);
        }
    }

    private static long bigEndian(byte[] bytes, int from) {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << Byte.SIZE | Byte.toUnsignedInt(bytes[from + i]);
        }
        return value;
    }

    /** Returns the seed of a request without one, which differs for each key and user seed. */
    public long seed(long userSeed) {
        return SplitMix64.at(SplitMix64.at(userSeed, high), low);
    }

    /** Parses the result of {@link #toString}; the digits need not be checked before. */
    static Optional<RequestKey> parse(String text) {
        if (text.length() != TEXT_CHARS) {
            return Optional.empty();
        }
        try {
            long high = HexFormat.fromHexDigitsToLong(text, 0, TEXT_CHARS / 2);
            long low = HexFormat.fromHexDigitsToLong(text, TEXT_CHARS / 2, TEXT_CHARS);
            return (low & STATE_BITS) == 0 ? Optional.of(new RequestKey(high, low)) : Optional.empty();
        } catch (NumberFormatException noDigits) {
            return Optional.empty();
        }
    }

    /** Returns 32 hexadecimal digits. */
    @Override
    public String toString() {
        return HEX.toHexDigits(high) + HEX.toHexDigits(low);
    }
}
