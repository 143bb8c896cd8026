package io.roseinfer.safetensors;

import io.roseinfer.base.Check;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Data decompressed into one native allocation with a reference count: the source and the arenas of its readers hold
 * references. Tensors are views, not copies; the last release frees it.
 */
final class SharedBytes implements TensorBytes {
    private final Arena owner;
    private final MemorySegment data;
    private final AtomicInteger holders = new AtomicInteger(1);

    /** Takes ownership of {@code owner}, which must be shared, and of the {@code data} allocated from it. */
    SharedBytes(Arena owner, MemorySegment data) {
        this.owner = owner;
        this.data = data;
    }

    @Override
    @SuppressWarnings("restricted") // reinterprets only this class's own allocation, while it is referenced
    public MemorySegment slice(long begin, long bytes, Arena arena) {
        Check.that(
                holders.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0,
                "a weight source was read after it was closed");
        try {
            return data.asSlice(begin, bytes)
                    .reinterpret(arena, view -> release())
                    .asReadOnly();
        } catch (IllegalStateException | WrongThreadException e) {
            release();
            throw e;
        }
    }

    @Override
    public void close() {
        release();
    }

    private void release() {
        if (holders.decrementAndGet() == 0) {
            owner.close();
        }
    }
}
