package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LargeMemoryTest {

    @ParameterizedTest
    @ValueSource(longs = {64, 4096, (2 << 20) - 1, 2 << 20, (5 << 20) + 12})
    void memory_is_zeroed_aligned_and_freed_with_its_arena(long bytes) {
        MemorySegment memory;
        try (Arena arena = Arena.ofShared()) {
            memory = LargeMemory.allocate(arena, bytes);
            assertThat(memory.byteSize()).isEqualTo(bytes);
            assertThat(memory.address() % 64).isZero();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isZero();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, bytes - 1)).isZero();
            memory.fill((byte) 7);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
        }
        assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }
}
