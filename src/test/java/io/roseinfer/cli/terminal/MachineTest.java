package io.roseinfer.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachineTest {
    @TempDir
    Path proc;

    private void file(String name, String text) throws IOException {
        Path file = proc.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    @Test
    void cpu_of_x86_linux_is_its_model_name() throws IOException {
        file("cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: A Fast CPU @ 3GHz\nstepping\t: 1\n");
        assertThat(new Machine(proc).cpu()).isEqualTo("A Fast CPU @ 3GHz");
    }

    @Test
    void cpu_without_a_name_is_the_architecture() {
        assertThat(new Machine(proc).cpu()).isEqualTo(System.getProperty("os.arch"));
    }

    @Test
    void gpu_is_the_first_of_several_cards() throws IOException {
        file("driver/nvidia/gpus/0000:41:00.0/information", "Model: \t\t NVIDIA B\nIRQ: 1\n");
        file("driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA A\nIRQ: 1\n");
        assertThat(new Machine(proc).gpu()).hasValue("NVIDIA A");
    }

    @Test
    void gpu_without_a_driver_is_empty() {
        assertThat(new Machine(proc).gpu()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Wed Aug 27 19:00:00 UTC 2025', 580.82.07",
        "'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build', 580.95.05"
    })
    void driver_of_either_kind_is_its_version(String line, String version) throws IOException {
        file("driver/nvidia/version", line + "\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
        assertThat(new Machine(proc).driver()).hasValue(version);
    }
}
