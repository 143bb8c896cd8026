package io.roseinfer.hub;

import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Safetensors;
import java.net.URI;
import java.util.stream.Stream;

/**
 * A file's metadata on the hub.
 *
 * @param name its plain relative path in the repository
 * @param address its address on the hub, at this commit
 * @param commit the commit of the metadata
 * @param bytes its size, -1 if unknown
 */
record RemoteFile(String name, URI address, String commit, Etag etag, long bytes) {

    /**
     * Checks the size on the hub.
     *
     * @throws BadModel if it exceeds the limit of its kind of file
     */
    RemoteFile {
        if (bytes > ceiling(name)) {
            throw tooLarge(name, "the hub reports " + bytes);
        }
    }

    /** Returns the maximum bytes to download: the known size, or the limit of its kind of file. */
    long maxBytes() {
        return bytes >= 0 ? bytes : ceiling(name);
    }

    /**
     * Checks the size in a download's headers.
     *
     * @throws BadModel if it differs from the hub's, or exceeds the limit of its kind of file
     */
    void requireAnnounced(long announced) {
        if (bytes >= 0 && announced != bytes) {
            throw new BadModel("download of " + Quoted.name(name) + ": wrong size: the hub reports " + bytes
                    + " bytes, the server sends " + announced + "; try again or check HF_ENDPOINT");
        }
        if (announced > maxBytes()) {
            throw tooLarge(name, "the server sends " + announced);
        }
    }

    /** Returns the error for a body of more than the maximum bytes. */
    BadModel tooMuch() {
        return bytes < 0
                ? tooLarge(name, "the server sends more than " + maxBytes())
                : new BadModel("download of " + Quoted.name(name) + ": the server sends more than the " + bytes
                        + " bytes it announced; try again or check HF_ENDPOINT");
    }

    private static BadModel tooLarge(String name, String seen) {
        return new BadModel("download of " + Quoted.name(name) + ": " + seen + " bytes, but at most " + ceiling(name)
                + " are allowed for such a file; check the model id and HF_ENDPOINT");
    }

    private static long ceiling(String name) {
        boolean weights =
                Stream.of(Safetensors.PLAIN_SUFFIX, Safetensors.ZSTD_SUFFIX).anyMatch(name::endsWith);
        return weights ? Limits.WEIGHTS_FILE_BYTES : Limits.CONFIG_BYTES;
    }
}
