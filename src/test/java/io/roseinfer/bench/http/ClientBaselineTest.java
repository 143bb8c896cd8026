package io.roseinfer.bench.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class ClientBaselineTest {
    /** Measures the baseline in a separate JVM. */
    static final class Measurement {
        public static void main(String[] args) throws Exception {
            loadClasses();
            System.out.println(new BadInput("no failure", Remedy.of("none for %s", "nothing")).getMessage());
            try {
                System.out.println(ClientBaseline.measure(1, Clock.system()));
            } catch (BadInput refused) {
                System.out.println("refused: " + refused.getMessage());
            }
        }

        /** Loads the classes of benchmarks, because loading a class from a directory later needs a descriptor. */
        private static void loadClasses() throws Exception {
            Path root = Path.of(ClientBaseline.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            try (Stream<Path> files = Files.walk(root.resolve("io/roseinfer/bench"))) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".class")).toList()) {
                    String name = root.relativize(file).toString().replace('/', '.');
                    Class<?> unused = Class.forName(
                            name.substring(0, name.length() - ".class".length()),
                            false,
                            ClientBaseline.class.getClassLoader());
                }
            }
        }
    }

    /** Enough descriptors for a JVM and too few for both ends of 32 connections: client, server or both fail. */
    @ParameterizedTest
    @ValueSource(ints = {100, 130, 160})
    @EnabledOnOs(OS.LINUX)
    void client_without_file_descriptors_fails_without_hanging(int files) throws Exception {
        Process process = new ProcessBuilder(
                        "bash",
                        "-c",
                        "ulimit -n " + files + " && exec \"$@\"",
                        "bash",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Measurement.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(printed)
                    .contains("refused: the client cannot measure itself: ")
                    .contains("raise the limit of open files (ulimit -n) to 1024 or more");
        } finally {
            process.destroyForcibly();
        }
    }
}
