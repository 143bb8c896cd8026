package io.roseinfer.hub;

import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Checkpoint;
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

    /** How many bytes are taken at most: the stated size, or the ceiling of this kind of file. */
    long maxBytes() {
        return bytes >= 0 ? bytes : ceiling(name);
    }

    /** The error for more bytes than any file of this kind may have. */
    BadModel tooLarge(String seen) {
        return tooLarge(name, seen);
    }

    private static BadModel tooLarge(String name, String seen) {
        return new BadModel("download of " + Quoted.name(name) + ": " + seen + " bytes, at most " + ceiling(name)
                + " are taken of such a file; check the model id and HF_ENDPOINT");
    }

    private static long ceiling(String name) {
        boolean weights =
                Stream.of(Checkpoint.PLAIN_SUFFIX, Checkpoint.ZSTD_SUFFIX).anyMatch(name::endsWith);
        return weights ? Limits.WEIGHTS_FILE_BYTES : Limits.CONFIG_BYTES;
    }
}
