package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.cpu.AvailableMemory;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.cli.terminal.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DoctorCommandTest {
    private static final List<String> PARTS = List.of(
            "roseinfer",
            "Java",
            "CPU",
            "Vector API",
            "CPU kernels",
            "Memory",
            "GPU",
            "CUDA driver",
            "CUDA kernels",
            "NVTX ranges",
            "CUDA backend",
            "Model cache",
            "Model hub",
            "Hub token",
            "Model",
            "Hint");

    @TempDir
    Path folder;

    private static List<String> parts(Outcome outcome) {
        return outcome.out()
                .lines()
                .map(line -> line.substring(0, 14).strip())
                .filter(part -> !part.isEmpty())
                .toList();
    }

    private static String value(Outcome outcome, String part) {
        return outcome.out()
                .lines()
                .filter(line -> line.startsWith(part + " "))
                .map(line -> line.substring(15))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void doctor_reports_every_part_on_every_machine() {
        Outcome outcome = CliRunner.run("doctor", "--device", "cpu");
        assertThat(outcome.code()).isZero();
        assertThat(parts(outcome)).containsAll(PARTS).contains("Memory plan");
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void available_memory_includes_reclaimable_memory() throws IOException {
        Files.writeString(
                Files.createDirectory(folder.resolve("proc")).resolve("meminfo"),
                "MemFree: 1048576 kB\nMemAvailable: 4194304 kB\n");
        assertThat(DoctorCommand.memory(new AvailableMemory(folder))).contains(" 4.0 GiB of it available");
    }

    /** Environment variables that commands reject before they contact the hub. */
    static Stream<Map<String, String>> malformed() {
        return Stream.of(
                Map.of("HF_ENDPOINT", "not an address"),
                Map.of("HF_TOKEN", "two words"),
                Map.of("HF_HOME", "no\0path"));
    }

    @ParameterizedTest
    @MethodSource("malformed")
    void malformed_variable_is_reported_with_all_other_findings(Map<String, String> environment) {
        Outcome outcome = CliRunner.run(environment, "doctor", "--device", "cpu");
        assertThat(parts(outcome)).containsAll(PARTS).contains("Memory plan");
        assertThat(value(outcome, "Hint")).contains(environment.keySet());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void unreadable_token_is_reported_with_all_other_findings() throws IOException {
        Path token = Files.createDirectory(folder.resolve("token"));
        Outcome outcome = CliRunner.run(Map.of("HF_HOME", folder.toString()), "doctor", "--device", "cpu");
        assertThat(parts(outcome)).containsAll(PARTS);
        assertThat(value(outcome, "Hint")).contains(token.toString(), "HF_TOKEN");
        assertThat(outcome.code()).isEqualTo(2);
    }

    @Test
    void model_that_cannot_be_loaded_is_reported_with_all_other_findings() {
        Outcome outcome = CliRunner.run("doctor", "--device", "cpu", "--model", "./no-such-folder");
        assertThat(parts(outcome)).containsAll(PARTS);
        assertThat(value(outcome, "Hint")).contains("no-such-folder");
        assertThat(outcome.code()).isEqualTo(3);
    }

    @Test
    void memory_plan_lists_every_allocation_and_their_sum() {
        Outcome outcome = CliRunner.run("doctor", "--device", "cpu");
        List<Double> mebibytes = Pattern.compile("(?m)^(?:Memory plan|) +([0-9.]+) MiB ")
                .matcher(outcome.out())
                .results()
                .map(found -> Double.valueOf(found.group(1)))
                .toList();
        assertThat(mebibytes).hasSizeGreaterThan(3);
        double listed = mebibytes.subList(0, mebibytes.size() - 1).stream()
                .mapToDouble(Double::doubleValue)
                .sum();
        assertThat(mebibytes.getLast()).isCloseTo(listed, within(0.05 * mebibytes.size()));
    }

    @Test
    void reason_for_unusable_cuda_is_reported() {
        String expected = CudaBackend.refusal().map(Terminal::shown).orElse("compute capability");
        assertThat(value(CliRunner.run("doctor", "--device", "cpu"), "CUDA backend"))
                .contains(expected);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unusable_gpu_gives_a_hint_if_a_gpu_or_driver_exists(boolean expected) {
        DoctorReport report = new DoctorReport();
        DoctorCommand.tellUnusable(report, new BackendUnavailable("no such kernels"), expected);
        assertThat(report.text())
                .contains("CUDA backend   not usable, --device auto uses the CPU: no such kernels")
                .contains(expected ? "Hint           no such kernels" : "Hint           none");
        assertThat(report.exitCode()).isZero();
    }

    @Test
    void failed_check_is_one_line_of_the_report() {
        DoctorReport report = new DoctorReport();
        report.find("Broken", () -> {
            throw new UnsatisfiedLinkError("no library");
        });
        report.line("After", "it");
        assertThat(report.text()).contains("Broken ", "no library", "After          it");
    }

    @Test
    void doctor_reports_cache_and_offline_mode_of_the_environment() {
        Outcome outcome =
                CliRunner.run(Map.of("HF_HOME", "/models", "HF_HUB_OFFLINE", "1"), "doctor", "--device", "cpu");
        assertThat(outcome.out())
                .contains("Model cache    /models/hub (created by the first download)\n")
                .contains("Model hub      not used: downloads are disabled (HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE)\n");
        assertThat(value(CliRunner.run("doctor", "--device", "cpu"), "Model hub"))
                .isEqualTo("https://huggingface.co (not contacted by this report)");
    }
}
