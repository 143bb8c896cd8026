package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class HostMemoryTest {
    private static final long KIB = 1 << 10;

    /** A driver with a limit of locked bytes. */
    private static final class SmallDriver implements HostMemory.Source {
        private final Arena arena = Arena.ofAuto();
        private long left;
        private int held;

        SmallDriver(long bytes) {
            left = bytes;
        }

        @Override
        public int allocate(long[] address, long bytes) {
            if (bytes > left) {
                return DriverStatus.OUT_OF_MEMORY;
            }
            left -= bytes;
            held++;
            address[0] = arena.allocate(bytes, 4096).fill((byte) 0x5a).address();
            return DriverStatus.SUCCESS;
        }

        @Override
        public void free(MemorySegment memory) {
            held--;
        }
    }

    @Test
    void allocate_without_enough_locked_memory_names_a_remedy() {
        HostMemory memory = new HostMemory(new SmallDriver(KIB));
        assertThatThrownBy(() -> memory.allocate("tokens", 2 * KIB))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("page-locked host memory for tokens")
                .hasMessageContaining("maxBatchSize");
    }

    @Test
    void allocate_for_uploads_without_enough_locked_memory_falls_back_and_warns_once() {
        HostMemory memory = new HostMemory(new SmallDriver(3 * KIB));
        MemorySegment locked = memory.allocateForUploads("step inputs", 2 * KIB);
        assertThat(memory.warnings()).isEmpty();
        MemorySegment first = memory.allocateForUploads("step inputs", 2 * KIB);
        MemorySegment second = memory.allocateForUploads("step inputs", 2 * KIB);
        assertThat(memory.warnings()).hasSize(1).first().asString().contains("step inputs", "ordinary memory");
        for (MemorySegment segment : new MemorySegment[] {locked, first, second}) {
            assertThat(segment.byteSize()).isEqualTo(2 * KIB);
            assertThat(segment.address() % 4096).isZero();
            assertThat(segment.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        }
    }

    @Test
    void close_frees_locked_memory() {
        SmallDriver driver = new SmallDriver(3 * KIB);
        HostMemory memory = new HostMemory(driver);
        memory.allocate("tokens", KIB);
        memory.allocateForUploads("step inputs", KIB);
        memory.allocateForUploads("step inputs", 8 * KIB);
        assertThat(driver.held).isEqualTo(2);
        memory.close();
        assertThat(driver.held).isZero();
    }
}
