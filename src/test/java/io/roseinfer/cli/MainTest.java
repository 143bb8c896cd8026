package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the command in a separate process without its libraries. */
@Timeout(60)
class MainTest {
    @Test
    void missing_libraries_suggest_the_launcher() throws Exception {
        Path ours = Path.of(
                Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        ours.toString(),
                        Main.class.getName(),
                        "doctor")
                .start();
        assertThat(process.waitFor()).isEqualTo(4);
        assertThat(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
                .startsWith("roseinfer: ")
                .contains(
                        "tools/roseinfer",
                        "--add-modules=jdk.incubator.vector",
                        "-cp '" + ours + ":" + ours.resolveSibling("lib") + "/*'")
                .hasLineCount(1);
    }
}
