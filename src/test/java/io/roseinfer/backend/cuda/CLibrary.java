package io.roseinfer.backend.cuda;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Compiles a source of {@code native/test} to a shared library; a test that needs one is skipped where there is no C compiler. */
final class CLibrary {
    private CLibrary() {}

    static Path compile(Path folder, String source, String library, String... flags) {
        Path made = folder.resolve(library);
        List<String> command =
                new ArrayList<>(List.of("cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1"));
        command.addAll(List.of("-shared", "-fPIC", "-Inative", "-o", made.toString(), "native/test/" + source));
        command.addAll(List.of(flags));
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
