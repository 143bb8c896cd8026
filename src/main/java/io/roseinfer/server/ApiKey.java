package io.roseinfer.server;

import io.roseinfer.base.RoseException.BadInput;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The key that clients must send. It is stored and compared as a digest, so that timing reveals nothing about it. */
public final class ApiKey {
    private static final String SCHEME = "Bearer ";

    private final byte[] digest;

    private ApiKey(byte[] digest) {
        this.digest = digest;
    }

    /**
     * Returns a key of visible ASCII characters.
     *
     * @throws BadInput if it has other characters, or none
     */
    public static ApiKey of(String key) {
        if (key.isEmpty() || !key.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            long lines = key.lines().count();
            throw new BadInput("the API key must be one line of visible ASCII characters without spaces"
                    + (lines > 1 ? "; it has " + lines + " lines" : ""));
        }
        return new ApiKey(digest(key));
    }

    /** Returns whether the value of an {@code Authorization} header is {@code Bearer} and this key. */
    boolean matches(String authorization) {
        boolean bearer = authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
        String shown = bearer ? authorization.substring(SCHEME.length()).strip() : "";
        return MessageDigest.isEqual(digest, digest(shown)) && bearer;
    }

    private static byte[] digest(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
