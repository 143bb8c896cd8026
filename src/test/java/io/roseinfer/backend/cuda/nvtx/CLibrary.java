package io.roseinfer.backend.cuda.nvtx;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Compiles a source of {@code native/test} to a shared library; tests are skipped without a C compiler. */
final class CLibrary {
    private CLibrary() {}

    static Path compile(Path folder, String source, String library) {
        Path made = folder.resolve(library);
        List<String> command = new ArrayList<>(List.of("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-O1"));
        command.addAll(List.of("-shared", "-fPIC", "-o", made.toString(), "native/test/" + source));
        try {
            Process compiler = new ProcessBuilder(command).inheritIO().start();
            if (compiler.waitFor() != 0) {
                throw new AssertionError(source + " does not compile");
            }
        } catch (IOException e) {
            assumeTrue(false, "skipped: no C compiler (" + e.getMessage() + ")");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return made;
    }
}
