package io.roseinfer.backend.cuda;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The files of {@code kernels/contract}, which state what this package and the kernels have to agree on. They are resources of
 * every build, with kernels and without.
 */
final class Contract {
    private static final String FOLDER = "/io/roseinfer/backend/cuda/contract/";

    private Contract() {}

    /** The lines of a file. */
    static List<String> lines(String file) {
        try (InputStream in = Contract.class.getResourceAsStream(FOLDER + file)) {
            if (in == null) {
                throw refusal(file, 0, "this build lacks the file");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new BackendUnavailable("device cuda: " + file + " cannot be read (" + e.getMessage() + ")", e);
        }
    }

    /**
     * Why a file is refused.
     *
     * @param line from 1; 0 where the whole file is meant
     */
    static BackendUnavailable refusal(String file, int line, String message) {
        return new BackendUnavailable("device cuda: kernels/contract/" + file + (line > 0 ? ", line " + line : "")
                + ": " + message + "; correct the file and rebuild with tools/build");
    }
}
