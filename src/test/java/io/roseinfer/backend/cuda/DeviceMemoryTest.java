package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeviceMemoryTest {
    private static final long MIB = 1 << 20;

    /** A device of 100 MiB. */
    private static final class SmallDevice implements DeviceMemory.Source {
        private final Map<Long, Long> held = new HashMap<>();
        private long next = 256;
        private boolean broken;
        private int fault = DriverStatus.SUCCESS;

        @Override
        public int allocate(long[] address, long bytes) {
            if (fault != DriverStatus.SUCCESS) {
                return fault;
            }
            if (bytes > freeBytes()) {
                return DriverStatus.OUT_OF_MEMORY;
            }
            address[0] = next;
            held.put(next, bytes);
            next += bytes;
            return DriverStatus.SUCCESS;
        }

        @Override
        public int free(long address) {
            return !broken && held.remove(address) != null ? DriverStatus.SUCCESS : 1;
        }

        @Override
        public long freeBytes() {
            return 100 * MIB - held.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    private final SmallDevice device = new SmallDevice();
    private final DeviceMemory memory = new DeviceMemory(device, "device cuda:0");

    @Test
    void uses_sum_allocations_by_name_largest_first() {
        memory.allocate("KV pool", 5 * MIB);
        memory.allocate("MLP weights", 4 * MIB);
        memory.allocate("MLP weights", 4 * MIB);
        assertThat(memory.uses())
                .containsExactly(new MemoryUse("MLP weights", 8 * MIB), new MemoryUse("KV pool", 5 * MIB));
    }

    @Test
    void allocate_more_than_is_free_reports_needed_and_available() {
        memory.allocate("MLP weights", 60 * MIB);
        assertThatThrownBy(() -> memory.allocate("KV pool", 41 * MIB))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("KV pool needs 41 MiB, 40 MiB are free (out of device memory (CUDA error 2))")
                .hasMessageContaining("held already: MLP weights 60 MiB")
                .hasMessageContaining("kvBlocks");
    }

    @Test
    void allocate_failure_of_another_kind_is_not_out_of_memory() {
        device.fault = 700;
        assertThatThrownBy(() -> memory.allocate("KV pool", MIB))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("allocating memory for KV pool: illegal address (CUDA error 700)");
    }

    @Test
    void allocate_after_seal_is_a_bug() {
        memory.seal();
        assertThatThrownBy(() -> memory.allocate("late", 1)).isInstanceOf(Check.Failure.class);
    }

    @Test
    void close_frees_everything() {
        memory.free(memory.allocate("on its way", MIB));
        memory.allocate("KV pool", MIB);
        assertThat(memory.close()).isEmpty();
        assertThat(device.freeBytes()).isEqualTo(100 * MIB);
    }

    @Test
    void failed_close_names_the_leaks() {
        memory.allocate("KV pool", MIB);
        device.broken = true;
        assertThat(memory.close()).containsExactly("KV pool, 1048576 bytes: invalid value (CUDA error 1)");
    }
}
