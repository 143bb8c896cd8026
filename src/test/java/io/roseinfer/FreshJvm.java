package io.roseinfer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A separate JVM that runs one test class. The JIT compilation of vector code depends on everything that ran before, so
 * a test of it must not share its JVM with other tests.
 */
public final class FreshJvm {
    private FreshJvm() {}

    /**
     * Runs up to three JVMs, and returns the first lines that are {@code good}, or the lines of the
     * last. Whether a call is inlined depends on its count at the time of compilation, so in some processes a vector
     * stays boxed. Real defects of the code occur in all of them.
     */
    public static List<String> firstThat(
            Predicate<List<String>> good, Class<?> main, List<String> flags, String... arguments) throws IOException {
        List<String> lines = run(main, flags, arguments);
        for (int more = 0; more < 2 && !good.test(lines); more++) {
            lines = run(main, flags, arguments);
        }
        return lines;
    }

    /**
     * The lines that {@code main} prints to its output.
     *
     * @param flags of the JVM, in addition to the flags for vector and native code
     */
    public static List<String> run(Class<?> main, List<String> flags, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } finally {
            process.destroyForcibly();
        }
    }
}
