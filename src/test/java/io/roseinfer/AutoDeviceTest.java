package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Precision;
import io.roseinfer.engine.Engine;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
class AutoDeviceTest {
    private static final Settings TINY = Settings.of("builtin:tiny");

    @TempDir
    Path folder;

    /** Opens an engine like an application that does not choose a device. */
    static final class Application {
        public static void main(String[] args) {
            try (Engine engine = Roseinfer.open(TINY.withThreads(1))) {
                System.out.println("open " + engine.spec().name());
            }
        }
    }

    /** In a process for which any available library stands in for a driver's. */
    private String openWithADriver(String path) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--add-modules=jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Application.class.getName())
                .redirectErrorStream(true);
        builder.environment().put("LD_LIBRARY_PATH", path);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said).contains("open builtin:tiny");
        return said;
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs LD_LIBRARY_PATH")
    void unused_driver_is_logged_with_the_reason() throws Exception {
        Path library = Path.of(System.getProperty("java.home"), "lib", "libjimage.so");
        Files.copy(library, folder.resolve("libcuda.so.1"));
        assertThat(openWithADriver(folder.toString())).contains("device auto is cpu: a number of threads is set");
    }

    @Test
    void cpu_is_used_for_features_that_only_it_has() {
        assertThat(AutoDevice.reasonForCpu(TINY.withThreads(2)))
                .hasValueSatisfying(reason -> assertThat(reason).contains("threads"));
        assertThat(AutoDevice.reasonForCpu(TINY.withPrecision(Precision.INT4)))
                .hasValue("int4 weights are supported on the CPU only");
        assertThat(AutoDevice.reasonForCpu(TINY.withPrecision(Precision.INT8)))
                .hasValueSatisfying(reason -> assertThat(reason).contains("they need device cuda"));
    }
}
