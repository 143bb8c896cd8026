package io.roseinfer.backend.cuda;

import io.roseinfer.base.RoseException.InsufficientMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/** Page-locked host memory, which the device copies from and to by itself, and can write to at the address the host sees. */
final class HostMemory {
    private final List<MemorySegment> allocations = new ArrayList<>();

    /** Allocates zeroed memory, aligned to a page. */
    @SuppressWarnings("restricted") // The driver's address and size are all that is known of its memory.
    MemorySegment allocate(String name, long bytes) {
        try (PointerPointer<Pointer> out = new PointerPointer<>(1)) {
            int code = Driver.allocateHost(out, bytes);
            if (code != DriverStatus.SUCCESS) {
                throw new InsufficientMemory(
                        "page-locked host memory for " + name + " (" + DeviceMemory.mebibytes(bytes)
                                + ") was refused: " + DriverStatus.describe(code)
                                + "; raise the limit on locked memory (ulimit -l) or use a smaller --max-batch-size");
            }
            MemorySegment memory =
                    MemorySegment.ofAddress(out.get(Pointer.class, 0).address()).reinterpret(bytes);
            memory.fill((byte) 0);
            allocations.add(memory);
            return memory;
        }
    }

    void close() {
        allocations.forEach(memory -> Driver.freeHost(new Address(memory)));
        allocations.clear();
    }
}
