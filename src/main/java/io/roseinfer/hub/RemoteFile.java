package io.roseinfer.hub;

import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Safetensors;
import java.net.URI;
import java.util.stream.Stream;

/**
 * A file as the hub describes it.
 *
 * @param name its path in the repository, plain and relative
 * @param address where the hub serves it, at this commit
 * @param commit the commit it was described at
 * @param bytes its size, -1 if the hub does not say
 */
record RemoteFile(String name, URI address, String commit, Etag etag, long bytes) {

    /**
     * Checks the size that the hub states.
     *
     * @throws BadModel if no file of this kind is that large
     */
    RemoteFile {
        if (bytes > ceiling(name)) {
            throw tooLarge(name, "the hub states " + bytes);
        }
    }

    /** Returns the maximum bytes that are taken: the stated size, or the ceiling of this kind of file. */
    long maxBytes() {
        return bytes >= 0 ? bytes : ceiling(name);
    }

    /**
     * Checks the size that a server announces with the file's bytes.
     *
     * @throws BadModel if it is not the stated one, or no file of this kind is that large
     */
    void requireAnnounced(long announced) {
        if (bytes >= 0 && announced != bytes) {
            throw new BadModel("download of " + Quoted.name(name) + ": wrong size: the hub states " + bytes
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
        return new BadModel("download of " + Quoted.name(name) + ": " + seen + " bytes, at most " + ceiling(name)
                + " are taken of such a file; check the model id and HF_ENDPOINT");
    }

    private static long ceiling(String name) {
        boolean weights =
                Stream.of(Safetensors.PLAIN_SUFFIX, Safetensors.ZSTD_SUFFIX).anyMatch(name::endsWith);
        return weights ? Limits.WEIGHTS_FILE_BYTES : Limits.CONFIG_BYTES;
    }
}
