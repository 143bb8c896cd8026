package io.roseinfer.backend.cpu;

import io.roseinfer.base.Check;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Memory in huge pages for weights and KV pool: with 4 KiB pages, TLB misses limit streaming to half to two thirds of the memory
 * bandwidth. On Linux the memory is mapped with {@code MADV_HUGEPAGE} before its first touch; elsewhere it is ordinary memory.
 */
final class LargeMemory {
    private static final long HUGE_PAGE = 2L << 20;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MADV_HUGEPAGE = 14;
    private static final long MAP_FAILED = -1;

    private LargeMemory() {}

    /** Allocates zeroed memory in {@code arena}, aligned for vectors; throws {@code OutOfMemoryError} if there is none. */
    static MemorySegment allocate(Arena arena, long bytes) {
        boolean linux = System.getProperty("os.name", "").equals("Linux");
        return linux && bytes >= HUGE_PAGE ? map(arena, bytes) : arena.allocate(bytes, 64);
    }

    private static MemorySegment map(Arena arena, long bytes) {
        long mapped = Math.addExact(bytes, HUGE_PAGE);
        long start = Linux.map(mapped);
        if (start == MAP_FAILED) {
            throw new OutOfMemoryError("cannot map " + bytes + " bytes");
        }
        MemorySegment aligned = Linux.view(arena, start, mapped).asSlice(-start & (HUGE_PAGE - 1), bytes);
        Linux.advise(aligned);
        return aligned;
    }

    /** System calls; loaded on Linux only. */
    @SuppressWarnings("restricted")
    private static final class Linux {
        private static final MethodHandle MMAP = function(
                "mmap",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG));
        private static final MethodHandle MUNMAP = function(
                "munmap", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        private static final MethodHandle MADVISE = function(
                "madvise",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));

        private static MethodHandle function(String name, FunctionDescriptor type) {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
        }

        static long map(long bytes) {
            try {
                return (long) MMAP.invokeExact(0L, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        static MemorySegment view(Arena arena, long start, long bytes) {
            return MemorySegment.ofAddress(start).reinterpret(bytes, arena, whole -> unmap(start, bytes));
        }

        private static void unmap(long start, long bytes) {
            try {
                Check.that((int) MUNMAP.invokeExact(start, bytes) == 0, "mapped memory could not be unmapped");
            } catch (Check.Failure e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        /** Advises huge pages; a refusal is ignored. */
        static void advise(MemorySegment memory) {
            try {
                int ignored = (int) MADVISE.invokeExact(memory.address(), memory.byteSize(), MADV_HUGEPAGE);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
    }
}
