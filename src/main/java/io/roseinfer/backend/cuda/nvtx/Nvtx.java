package io.roseinfer.backend.cuda.nvtx;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;

/**
 * The application side of NVTX 3 in Java, for builds without NVTX's header. A profiler names its library in the environment; the
 * application loads it and passes a table of empty slots, and the profiler fills in the functions that it implements.
 *
 * <p>Layouts are those of {@code nvtxTypes.h}: a module's table is an array of pointers to slots, slot zero unused, reached through two
 * export tables.
 */
@SuppressWarnings({"restricted", "UnusedMethod"
}) // native by nature; the profiler calls some methods through their names
final class Nvtx {
    private static final int VERSION = 3;
    private static final int CALLBACKS = 1;
    private static final int VERSION_INFO = 3;

    /** Slots per module number: none, core, CUDA, OpenCL, CUDA runtime, core 2, synchronization. */
    private static final int[] MODULE_SLOTS = {0, 16, 9, 15, 7, 16, 7};

    private static final int CORE = 1;
    private static final int RANGE_PUSH_A = 9;
    private static final int RANGE_POP = 11;

    private final Linker linker = Linker.nativeLinker();
    /** A profiler keeps the tables until the process ends. */
    private final Arena arena = Arena.global();

    private final MemorySegment[] tables = new MemorySegment[MODULE_SLOTS.length];
    private final MemorySegment callbacks = arena.allocate(16, 8);
    private final MemorySegment versionInfo = arena.allocate(24, 8);

    private Nvtx() {
        for (int module = CORE; module < tables.length; module++) {
            tables[module] = table(MODULE_SLOTS[module]);
        }
        callbacks.set(JAVA_LONG, 0, callbacks.byteSize());
        callbacks.set(ADDRESS, 8, upcall("moduleTable", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS)));
        versionInfo.set(JAVA_LONG, 0, versionInfo.byteSize());
        versionInfo.set(JAVA_INT, 8, VERSION);
        versionInfo.set(ADDRESS, 16, upcall("profilerVersion", FunctionDescriptor.ofVoid(JAVA_INT)));
    }

    /** Returns pointers to empty slots, null-terminated. */
    private MemorySegment table(int slots) {
        MemorySegment functions = arena.allocate(8L * slots, 8);
        MemorySegment table = arena.allocate(8L * (slots + 1), 8);
        for (int slot = 1; slot < slots; slot++) {
            table.setAtIndex(ADDRESS, slot, functions.asSlice(8L * slot, 8));
        }
        return table;
    }

    private MemorySegment upcall(String method, FunctionDescriptor type) {
        try {
            MethodType signature = type.toMethodType();
            MethodHandle handle = MethodHandles.lookup().findVirtual(Nvtx.class, method, signature);
            return linker.upcallStub(handle.bindTo(this), type, arena);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(method, e);
        }
    }

    /** Called by the profiler; returns an export table. */
    private MemorySegment exportTable(int id) {
        return switch (id) {
            case CALLBACKS -> callbacks;
            case VERSION_INFO -> versionInfo;
            default -> MemorySegment.NULL;
        };
    }

    /** Called by the profiler for a module's table and slot count; returns 0 for an unknown module. */
    private int moduleTable(int module, MemorySegment outTable, MemorySegment outSize) {
        if (module < CORE || module >= tables.length) {
            return 0;
        }
        if (outTable.address() != 0) {
            outTable.reinterpret(8).set(ADDRESS, 0, tables[module]);
        }
        if (outSize.address() != 0) {
            outSize.reinterpret(4).set(JAVA_INT, 0, MODULE_SLOTS[module]);
        }
        return 1;
    }

    /** Called by the profiler with its version. */
    @SuppressWarnings("UnusedVariable")
    private void profilerVersion(int version) {}

    /**
     * Loads a profiler's library, which fills in the slots.
     *
     * @throws BackendUnavailable if it cannot be loaded, has no entry point, fails, or does not implement ranges
     */
    static RangeStack attach(Path library) {
        Nvtx nvtx = new Nvtx();
        MemorySegment exportTable = nvtx.upcall("exportTable", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        try {
            SymbolLookup symbols = SymbolLookup.libraryLookup(library, nvtx.arena);
            MemorySegment entry = symbols.find("InitializeInjectionNvtx2")
                    .orElseThrow(() -> refused(library, "has no function InitializeInjectionNvtx2"));
            MethodHandle initialize = nvtx.linker.downcallHandle(entry, FunctionDescriptor.of(JAVA_INT, ADDRESS));
            if ((int) initialize.invokeExact(exportTable) == 0) {
                throw refused(library, "could not start");
            }
        } catch (IllegalArgumentException e) {
            throw refused(library, "cannot be loaded");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a native function throws nothing", e);
        }
        MethodHandle push = nvtx.function(RANGE_PUSH_A, FunctionDescriptor.of(JAVA_INT, ADDRESS), library);
        MethodHandle pop = nvtx.function(RANGE_POP, FunctionDescriptor.of(JAVA_INT), library);
        return new Functions(push, pop);
    }

    /** The profiler's push and pop functions. */
    private record Functions(MethodHandle pushing, MethodHandle popping) implements RangeStack {
        @Override
        @SuppressWarnings("UnusedVariable") // invokeExact requires the result
        public void push(MemorySegment name) {
            try {
                int depth = (int) pushing.invokeExact(name);
            } catch (Throwable e) {
                throw new IllegalStateException("a native function throws nothing", e);
            }
        }

        @Override
        @SuppressWarnings("UnusedVariable")
        public void pop() {
            try {
                int depth = (int) popping.invokeExact();
            } catch (Throwable e) {
                throw new IllegalStateException("a native function throws nothing", e);
            }
        }
    }

    private MethodHandle function(int slot, FunctionDescriptor type, Path library) {
        MemorySegment function =
                tables[CORE].getAtIndex(ADDRESS.withTargetLayout(ADDRESS), slot).get(ADDRESS, 0);
        if (function.address() == 0) {
            throw refused(library, "does not listen to ranges");
        }
        return linker.downcallHandle(function, type);
    }

    private static BackendUnavailable refused(Path library, String why) {
        return new BackendUnavailable(
                "the profiler's library " + library + " (NVTX_INJECTION64_PATH) " + why + ", so it is shown no ranges",
                Remedy.of("start the program from the profiler, such as nsys profile --trace=cuda,nvtx"));
    }
}
