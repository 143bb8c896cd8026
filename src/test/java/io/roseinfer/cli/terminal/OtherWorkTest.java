package io.roseinfer.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherWorkTest {
    @TempDir
    private Path proc;

    private OtherWork read(String cpu, long ownNanos) throws IOException {
        Files.writeString(proc.resolve("stat"), "cpu  " + cpu + " 7 8\ncpu0 1 2 3\n");
        return OtherWork.read(proc, ownNanos).orElseThrow();
    }

    /** 1,000 ticks: 500 idle, 100 stolen and 400 busy, including 250 of this process. */
    @Test
    void time_of_other_processes_and_the_hypervisor_is_reported() throws IOException {
        OtherWork before = read("10 10 10 10 10 10 10 10", 1_000_000_000);
        OtherWork after = read("210 110 60 460 60 30 40 110", 3_500_000_000L);
        assertThat(before.until(after)).get().asString().contains("other processes took 15 %", "hypervisor 10 %");
    }

    @Test
    void machine_used_only_by_this_process_is_not_busy() throws IOException {
        OtherWork before = read("10 10 10 10 10 10 10 10", 0);
        OtherWork after = read("410 10 10 560 10 10 10 10", 4_000_000_000L);
        assertThat(before.until(after)).isEmpty();
        assertThat(before.until(before)).isEmpty();
    }

    @Test
    void platform_without_counters_has_no_note() throws IOException {
        assertThat(OtherWork.read(proc, 0)).isEmpty();
        Files.writeString(proc.resolve("stat"), "intr 1 2 3\n");
        assertThat(OtherWork.read(proc, 0)).isEmpty();
    }
}
