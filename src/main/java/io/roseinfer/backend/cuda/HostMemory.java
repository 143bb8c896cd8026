package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.driver.Address;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/**
 * Page-locked host memory for asynchronous copies and device writes at the host's address. Upload buffers fall back to pageable memory
 * if the driver locks no more; copies then go through the driver's staging buffer.
 */
final class HostMemory {
    private static final int ALIGNMENT = 4096;

    /** Allocator of page-locked memory: the driver, or a test's. */
    interface Source {
        /** Fills in the address and returns the driver's code. */
        int allocate(long[] address, long bytes);

        void free(MemorySegment memory);
    }

    /** Allocates from the driver in the current context. */
    public static final Source DRIVER = new Source() {
        @Override
        public int allocate(long[] address, long bytes) {
            try (PointerPointer<Pointer> out = new PointerPointer<>(1)) {
                int code = Driver.allocateHost(out, bytes);
                if (code == DriverStatus.SUCCESS) {
                    address[0] = out.get(Pointer.class, 0).address();
                }
                return code;
            }
        }

        @Override
        public void free(MemorySegment memory) {
            Driver.freeHost(new Address(memory));
        }
    };

    private final Source source;
    private final List<MemorySegment> locked = new ArrayList<>();
    private final Arena pageable = Arena.ofShared();
    private final List<String> warnings = new ArrayList<>();

    public HostMemory(Source source) {
        this.source = source;
    }

    /** Allocates zeroed page-locked memory, aligned to a page. */
    public MemorySegment allocate(String name, long bytes) {
        long[] address = new long[1];
        int code = source.allocate(address, bytes);
        if (code != DriverStatus.SUCCESS) {
            throw new InsufficientMemory(
                    refusal(name, bytes, code),
                    Remedy.of("raise the limit on locked memory (ulimit -l) or use a smaller %s", "max_batch_size"));
        }
        return lockedAt(address[0], bytes);
    }

    /** Allocates zeroed memory for uploads, aligned to a page: page-locked if possible. */
    public MemorySegment allocateForUploads(String name, long bytes) {
        long[] address = new long[1];
        int code = source.allocate(address, bytes);
        if (code == DriverStatus.SUCCESS) {
            return lockedAt(address[0], bytes);
        }
        String warning = refusal(name, bytes, code) + "; steps will start later, from ordinary memory";
        if (!warnings.contains(warning)) {
            warnings.add(warning);
        }
        return pageable.allocate(bytes, ALIGNMENT);
    }

    @SuppressWarnings("restricted") // The driver's address and size are all that is known of its memory.
    private MemorySegment lockedAt(long address, long bytes) {
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(bytes);
        memory.fill((byte) 0);
        locked.add(memory);
        return memory;
    }

    private static String refusal(String name, long bytes, int code) {
        return "page-locked host memory for " + name + " (" + DeviceMemory.mebibytes(bytes) + ") was refused: "
                + DriverStatus.describe(code);
    }

    /** Returns warnings for the user: one for each kind of memory that is not page-locked. */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    public void close() {
        locked.forEach(source::free);
        locked.clear();
        pageable.close();
    }
}
