package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.driver.Address;
import io.roseinfer.backend.cuda.nvtx.NativeCalls;
import io.roseinfer.backend.cuda.nvtx.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: what does a call of C cost from Java, by JNI, by the JDK's foreign functions and by JavaCPP? Each calls a function that
 * does next to nothing: one without arguments, or memcmp of no bytes; and a profiler's range, begun and ended without a profiler.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@SuppressWarnings("restricted")
public class NativeCallBenchmark {
    private static final FunctionDescriptor MEMCMP = FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);
    private static final MethodHandle FOREIGN = memcmp();
    private static final MethodHandle CRITICAL = memcmp(Linker.Option.critical(false));

    private final MemorySegment memory = Arena.global().allocate(64);
    private Pointer first;
    private Pointer second;
    private long name;

    private static MethodHandle memcmp(Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find("memcmp").orElseThrow(), MEMCMP, options);
    }

    @Setup
    public void load() {
        if (!NativeLibrary.instance().loaded()) {
            throw new IllegalStateException(NativeLibrary.instance().description());
        }
        Loader.load(Pointer.class);
        first = new Address(memory);
        second = new Address(memory.asSlice(32));
        name = Arena.global().allocateFrom("decode, 64 rows, 64 tokens").address();
    }

    @Benchmark
    public boolean jniWithoutArguments() {
        return NativeCalls.hasNvtx();
    }

    @Benchmark
    public int jniRange() {
        return NativeCalls.push(name) + NativeCalls.pop();
    }

    @Benchmark
    public int foreignMemcmp() throws Throwable {
        return (int) FOREIGN.invokeExact(memory, memory, 0L);
    }

    @Benchmark
    public int foreignCriticalMemcmp() throws Throwable {
        return (int) CRITICAL.invokeExact(memory, memory, 0L);
    }

    @Benchmark
    public int javacppMemcmp() {
        return Pointer.memcmp(first, second, 0);
    }
}
