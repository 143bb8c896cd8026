package io.roseinfer.backend.cuda;

import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A runner's device memory, by name. Allocations happen only while a model is loaded, before {@link #seal}. */
final class DeviceMemory {
    /** Allocator: the driver, or a test's. */
    public interface Source {
        /** Fills in the address and returns the driver's code. */
        int allocate(long[] address, long bytes);

        int free(long address);

        long freeBytes();
    }

    /** Allocates on the device of the current context. */
    public static final Source DEVICE = new Source() {
        @Override
        public int allocate(long[] address, long bytes) {
            return Driver.allocate(address, bytes);
        }

        @Override
        public int free(long address) {
            return Driver.free(address);
        }

        @Override
        public long freeBytes() {
            return Driver.freeBytes();
        }
    };

    private record Allocation(String name, long address, long bytes) {}

    private final Source source;
    private final String device;
    private final List<Allocation> allocations = new ArrayList<>();
    private boolean sealed;

    /**
     * @param device name of the device in messages
     */
    public DeviceMemory(Source source, String device) {
        this.source = source;
        this.device = device;
    }

    /**
     * Allocates, aligned to 256 bytes. Reports add up allocations of one name.
     *
     * @throws InsufficientMemory listing the current allocations
     */
    public long allocate(String name, long bytes) {
        Check.that(!sealed, "device memory is allocated after the model was loaded");
        long[] address = new long[1];
        int code = source.allocate(address, Math.max(bytes, 1));
        if (code == DriverStatus.OUT_OF_MEMORY) {
            throw refused(name, bytes);
        }
        if (code != DriverStatus.SUCCESS) {
            throw DriverStatus.unavailable("allocating memory for " + name, code);
        }
        allocations.add(new Allocation(name, address[0], bytes));
        return address[0];
    }

    /** Frees one allocation, such as a temporary of loading. */
    public void free(long address) {
        Allocation allocation = allocations.stream()
                .filter(a -> a.address() == address)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("device memory is freed that was not allocated"));
        allocations.remove(allocation);
        source.free(address);
    }

    /** Receives an allocation. */
    @FunctionalInterface
    public interface Visitor {
        void visit(long address, long bytes);
    }

    /** Visits every allocation with one of these names. */
    public void forEach(Visitor visitor, String... names) {
        List<String> wanted = List.of(names);
        allocations.stream()
                .filter(allocation -> wanted.contains(allocation.name()))
                .forEach(allocation -> visitor.visit(allocation.address(), allocation.bytes()));
    }

    /** Forbids further allocations. */
    public void seal() {
        sealed = true;
    }

    /** Returns the free bytes of the device. */
    public long freeBytes() {
        return source.freeBytes();
    }

    /** Returns the allocations, largest first. */
    public List<MemoryUse> uses() {
        Map<String, Long> bytes = new LinkedHashMap<>();
        allocations.forEach(a -> bytes.merge(a.name(), a.bytes(), Long::sum));
        return bytes.entrySet().stream()
                .map(use -> new MemoryUse(use.getKey(), use.getValue()))
                .sorted(Comparator.comparingLong(MemoryUse::bytes).reversed())
                .toList();
    }

    /** Frees everything; returns the names of allocations that could not be freed. */
    public List<String> close() {
        List<String> leaks = new ArrayList<>();
        for (Allocation allocation : allocations.reversed()) {
            int code = source.free(allocation.address());
            if (code != DriverStatus.SUCCESS) {
                leaks.add(allocation.name() + ", " + allocation.bytes() + " bytes: " + DriverStatus.describe(code));
            }
        }
        allocations.clear();
        sealed = true;
        return leaks;
    }

    /** Returns the error that lists needed and available memory. */
    private InsufficientMemory refused(String name, long bytes) {
        StringBuilder held = new StringBuilder();
        uses().stream()
                .limit(4)
                .forEach(use -> held.append(held.isEmpty() ? "" : ", ")
                        .append(use.name())
                        .append(' ')
                        .append(mebibytes(use.bytes())));
        return new InsufficientMemory(
                device + ": " + name + " needs " + mebibytes(bytes) + ", "
                        + mebibytes(source.freeBytes()) + " are free ("
                        + DriverStatus.describe(DriverStatus.OUT_OF_MEMORY)
                        + "); held already: " + (held.isEmpty() ? "nothing" : held),
                DriverStatus.LESS_MEMORY);
    }

    static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%d MiB", Math.ceilDiv(bytes, 1L << 20));
    }
}
