package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the command in a separate JVM with too small a heap. */
@Tag("process")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmallHeapTest {
    private static final int OUT_OF_MEMORY = 5;

    @Test
    void requests_that_fill_the_heap_exit_with_5_and_one_line() throws Exception {
        Process process = start("-Xmx48m", "--num-requests", "20000", "--max-new-tokens", "500");
        try {
            String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(errors).isEqualTo(OUT_OF_MEMORY);
            assertThat(errors.lines().filter(line -> line.startsWith("roseinfer: out of memory")))
                    .as(errors)
                    .hasSize(1);
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 0})
    void nearly_full_heap_ends_the_process(int freeKib) throws Exception {
        Process process = new ProcessBuilder(
                        java(),
                        "-Xmx160m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FullHeapMain.class.getName(),
                        String.valueOf(freeKib))
                .inheritIO()
                .start();
        try {
            assertThat(process.waitFor()).isEqualTo(FullHeapMain.ENDED_BY_WATCH);
        } finally {
            process.destroyForcibly();
        }
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static Process start(String heap, String... flags) throws IOException {
        ProcessBuilder command = new ProcessBuilder(
                java(),
                heap,
                "-XX:+UseSerialGC",
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "bench",
                "--model",
                "builtin:tiny",
                "--device",
                "sim");
        command.command().addAll(List.of(flags));
        return command.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    }
}
