package io.roseinfer.bench.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Runs {@code tools/replicas} in a bundle made of this build's classes, on simulated devices. */
@Tag("process")
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class ReplicaScalingTest {
    @TempDir
    private Path bundle;

    private Process start(String... arguments) throws IOException {
        Path bin = Files.createDirectories(bundle.resolve("bin"));
        Path script = Files.copy(Path.of("tools/replicas"), bin.resolve("replicas"));
        Path launcher = Files.copy(Path.of("tools/bundled/java-with-flags"), bin.resolve("java-with-flags"));
        Path java = Files.writeString(
                Files.createDirectories(bundle.resolve("java/bin")).resolve("java"),
                "#!/bin/sh\nexec '" + System.getProperty("java.home") + "/bin/java' \"$@\"\n");
        for (Path program : List.of(script, launcher, java)) {
            assertThat(program.toFile().setExecutable(true)).isTrue();
        }
        Files.createDirectories(bundle.resolve("test-classes"));
        ProcessBuilder builder = new ProcessBuilder(script.toString()).redirectErrorStream(true);
        builder.command().addAll(List.of(arguments));
        builder.environment().put("ROSEINFER_CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().remove("ROSEINFER_JAVA_OPTS");
        // For all JVMs: the optimizing compiler would take most of the time.
        builder.environment().put("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");
        return builder.start();
    }

    private static String output(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void simulated_replicas_share_the_load_and_survive_the_failure_of_one() throws Exception {
        Path results = bundle.resolve("results");
        Process process = start("sim", results.toString());
        String output = output(process);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output)
                .containsPattern("(?m)^simulated +in process +- +1 ")
                .containsPattern("(?m)^simulated +in process +least-tokens +2 ")
                .containsPattern("(?m)^simulated +in process +prefix +4 ")
                .containsPattern("(?m)^simulated +HTTP +pull +4 ")
                .contains("requests without tokens survive the failure of a replica: met");
        JsonNode all = StrictJson.parse(Files.readAllBytes(results.resolve("results.json")));
        assertThat(all.path("failures")).hasSize(2).allSatisfy(failure -> {
            assertThat(failure.path("failedWithoutTokens").asInt(-1)).isZero();
            assertThat(failure.path("failedWithTokens").asInt()).isBetween(1, 16);
        });
        assertThat(all.path("cases"))
                .isNotEmpty()
                .allSatisfy(row -> assertThat(row.path("shares"))
                        .hasSize(row.path("replicas").asInt())
                        .allSatisfy(share -> assertThat(share.asDouble()).isBetween(0.0, 100.0)));
        assertThat(all.path("omitted")).isEmpty();
    }

    @Test
    void unknown_device_is_rejected_with_an_example() throws Exception {
        Process process = start("gpu:0");
        assertThat(output(process)).contains("gpu:0", "cuda:0,cuda:1");
        assertThat(process.waitFor()).isEqualTo(2);
    }
}
