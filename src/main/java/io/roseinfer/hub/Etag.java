package io.roseinfer.hub;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The name of a blob: the hub's entity tag, which is the SHA-256 of a large (LFS) file's bytes or git's SHA-1 of a
 * small one, so a download can be verified against it. It has only hex digits, so it is safe as a file name.
 *
 * @param hex 64 or 40 lower-case hex digits
 */
record Etag(String hex) {
    private static final Pattern SHA256_OR_SHA1 = Pattern.compile("[0-9a-f]{64}|[0-9a-f]{40}");
    private static final int BUFFER_BYTES = 1 << 16;

    /** Parses an {@code ETag} header, which may be quoted or weak. */
    public static Optional<Etag> parse(String header) {
        String text = header.startsWith("W/") ? header.substring(2) : header;
        boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
        String hex = quoted ? text.substring(1, text.length() - 1) : text;
        return SHA256_OR_SHA1.matcher(hex).matches() ? Optional.of(new Etag(hex)) : Optional.empty();
    }

    /** Returns the tag in a blob's name. */
    static Optional<Etag> of(Path blob) {
        return parse(blob.getFileName().toString());
    }

    /** Returns whether a file's bytes have this tag. */
    public boolean matches(Path file) throws IOException {
        MessageDigest digest = digest(hex.length() == 64 ? "SHA-256" : "SHA-1");
        if (hex.length() == 40) {
            // git hashes "blob <size>\0" in front of the content
            digest.update(("blob " + Files.size(file) + "\0").getBytes(StandardCharsets.US_ASCII));
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                digest.update(buffer, 0, read);
            }
        }
        return HexFormat.of().formatHex(digest.digest()).equals(hex);
    }

    private static MessageDigest digest(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has " + algorithm, e);
        }
    }
}
