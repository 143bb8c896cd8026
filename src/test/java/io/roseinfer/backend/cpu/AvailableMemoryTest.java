package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Available memory from fake kernel files. */
class AvailableMemoryTest {
    private static final long GIB = 1L << 30;

    @TempDir
    private Path root;

    private AvailableMemory memory;

    @BeforeEach
    void machineWithFourGibibytesAvailable() throws IOException {
        memory = new AvailableMemory(root);
        write(
                "proc/meminfo",
                "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    4194304 kB\n");
    }

    private void write(String file, String content) throws IOException {
        Files.createDirectories(root.resolve(file).getParent());
        Files.writeString(root.resolve(file), content);
    }

    private void group(String folder, String limit, long usage, long cached) throws IOException {
        write("sys/fs/cgroup/" + folder + "/memory.max", limit + "\n");
        write("sys/fs/cgroup/" + folder + "/memory.current", usage + "\n");
        write(
                "sys/fs/cgroup/" + folder + "/memory.stat",
                "anon 77\nfile 88\ninactive_file " + cached + "\nactive_file 5\nslab_reclaimable 2\n");
    }

    @Test
    void without_cgroups_it_is_linux_available_memory() {
        assertThat(memory.bytes()).isEqualTo(4 * GIB);
    }

    @Test
    void smaller_cgroup_room_limits() throws IOException {
        write("proc/self/cgroup", "0::/a/b\n");
        group("a/b", Long.toString(3 * GIB), 2 * GIB, 0);
        assertThat(memory.bytes()).isEqualTo(GIB + 7);
        group("a/b", Long.toString(30 * GIB), 2 * GIB, 0);
        assertThat(memory.bytes()).isEqualTo(4 * GIB);
    }

    @Test
    void page_cache_of_a_cgroup_is_free() throws IOException {
        write("proc/self/cgroup", "0::/a\n");
        group("a", Long.toString(3 * GIB), 3 * GIB, 2 * GIB);
        assertThat(memory.bytes()).isEqualTo(2 * GIB + 7);
    }

    @Test
    void parent_cgroup_limits_too() throws IOException {
        write("proc/self/cgroup", "0::/a/b\n");
        group("a/b", "max", GIB, 0);
        group("a", Long.toString(2 * GIB), GIB, 0);
        assertThat(memory.bytes()).isEqualTo(GIB + 7);
    }

    @Test
    void overfull_cgroup_has_no_room() throws IOException {
        write("proc/self/cgroup", "0::/a\n");
        group("a", Long.toString(GIB), 2 * GIB, 0);
        assertThat(memory.bytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0::/host/path/unseen", "0::/../../other", "0::/", "0::"})
    void limit_of_a_container_with_only_its_own_cgroup_applies(String line) throws IOException {
        write("proc/self/cgroup", line + "\n");
        group("", Long.toString(2 * GIB), GIB, 0);
        assertThat(memory.bytes()).isEqualTo(GIB + 7);
    }

    @Test
    void cgroups_v1_apply() throws IOException {
        write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a\n0::/\n");
        write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", (3 * GIB) + "\n");
        write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", (2 * GIB) + "\n");
        write("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 4096\ntotal_active_file 4\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("sys/fs/cgroup/memory/memory.usage_in_bytes", (9 * GIB) + "\n");
        assertThat(memory.bytes()).isEqualTo(GIB + 4100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "MemAvailable:", "MemAvailable: -1 kB", "MemAvailable: x kB", "\u0000\u0000"})
    void unreadable_files_leave_total_memory(String content) throws IOException {
        write("proc/meminfo", content);
        write("proc/self/cgroup", "nonsense\n0::/a\n::\n");
        group("a", "nonsense", 1, 1);
        assertThat(memory.bytes()).isGreaterThan(1L << 27);
    }

    @Test
    void model_one_byte_too_large_is_rejected_with_a_remedy() {
        TestModel model = TestModel.random(TestModel.plain(), 1);
        RunnerLimits limits = new RunnerLimits(4, 32, 16, 1000);
        long needed;
        try (ModelRunner runner = load(model, limits, Long.MAX_VALUE)) {
            needed = runner.memory().stream().mapToLong(use -> use.bytes()).sum();
        }
        load(model, limits, needed).close();
        assertThatThrownBy(() -> load(model, limits, needed - 1))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("MiB of memory available")
                .hasMessageContaining("1000 KV blocks, 1 MiB for weights;")
                .hasMessageContaining("use a smaller kvBlocks or maxBatchSize, or precision int8");
    }

    @Test
    void largest_part_and_its_setting_are_named_first() {
        TestModel model = TestModel.random(TestModel.plain(), 1);
        assertThatThrownBy(() -> load(model, new RunnerLimits(4, 32, 16, 1), 1))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("on the cpu: 1 MiB for weights, 1 MiB for 1 KV blocks;")
                .hasMessageContaining("use precision int8, or a smaller kvBlocks or maxBatchSize");
    }

    @Test
    void kv_blocks_that_exceed_the_memory_by_themselves_are_the_only_remedy() {
        TestModel model = TestModel.random(TestModel.plain(), 1);
        assertThatThrownBy(() -> load(model, new RunnerLimits(4, 32, 16, 1_000_000_000), GIB))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageEndingWith("there is 1024 MiB of memory available; use a smaller kvBlocks");
    }

    @Test
    void full_heap_is_named_with_its_own_remedy() {
        TestModel model = TestModel.random(TestModel.plain(), 1);
        RunnerLimits limits = new RunnerLimits(4, 32, 16, 1);
        assertThatThrownBy(() -> load(model, limits, Long.MAX_VALUE, new FullHeap()))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageMatching("the Java heap of \\d+ MiB is too small to load the model; raise -Xmx");
    }

    /** Kernels whose creation finds the heap full. */
    private record FullHeap() implements Kernels.Factory {
        @Override
        public String name() {
            return "full";
        }

        @Override
        public Kernels create(WeightFormat format, int contextLength) {
            throw new OutOfMemoryError("Java heap space");
        }

        @Override
        public long bytes(WeightFormat format, int contextLength) {
            return 0;
        }
    }

    private static ModelRunner load(TestModel model, RunnerLimits limits, long available) {
        return load(model, limits, available, new ScalarKernels());
    }

    private static ModelRunner load(TestModel model, RunnerLimits limits, long available, Kernels.Factory kernels) {
        CpuOptions options = CpuOptions.defaults();
        return RunnerLoader.load(
                        model.spec,
                        model.weights(),
                        limits,
                        options.precision(),
                        List.of(kernels),
                        List.of(1),
                        available)
                .getFirst();
    }

    @Test
    void backend_reads_available_memory_at_load() throws IOException {
        write("proc/meminfo", "MemAvailable: 1 kB\n");
        CpuBackend backend = new CpuBackend(CpuOptions.defaults(), CpuFeatures.detect(), memory, Clock.system());
        TestModel model = TestModel.random(TestModel.plain(), 1);
        assertThatThrownBy(() -> backend.load(model.spec, model.weights(), new RunnerLimits(4, 32, 16, 0)))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("there is 0 MiB of memory available");
    }
}
