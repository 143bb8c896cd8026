package io.roseinfer.backend.cuda;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The files of {@code kernels/contract}, on which this package and the kernels must agree. They are resources of every build. Since
 * they ship in one jar with the kernels, tests check them against both sides, not the runtime.
 */
final class Contract {
    private static final String FOLDER = "/io/roseinfer/backend/cuda/contract/";

    private Contract() {}

    /** Returns the lines of a file that are neither blank nor comments. */
    static List<String> lines(String file) {
        try (InputStream in = Contract.class.getResourceAsStream(FOLDER + file)) {
            if (in == null) {
                throw new BackendUnavailable(
                        "device cuda: this build lacks kernels/contract/" + file,
                        Remedy.of("rebuild with tools/build"),
                        Remedy.USE_CPU);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#") && !line.startsWith("//"))
                    .toList();
        } catch (IOException e) {
            throw new BackendUnavailable("device cuda: " + file + " cannot be read (" + e.getMessage() + ")", e);
        }
    }
}
