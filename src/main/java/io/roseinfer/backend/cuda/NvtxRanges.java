package io.roseinfer.backend.cuda;

import io.roseinfer.backend.ProfilerRanges;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Optional;

/** Ranges as NVIDIA's profilers show them, by way of {@link Nvtx}. Beginning and ending one allocates nothing. */
public final class NvtxRanges implements ProfilerRanges {
    private static final int LONGEST_NAME = 128;

    private final MethodHandle push;
    private final MethodHandle pop;
    private final MemorySegment[] names;
    /** The name of a range with numbers in it; the engine's thread alone writes it. */
    private final MemorySegment numbered = Arena.global().allocate(LONGEST_NAME);

    NvtxRanges(MethodHandle push, MethodHandle pop) {
        this.push = push;
        this.pop = pop;
        this.names = new MemorySegment[Range.values().length];
        for (Range range : Range.values()) {
            names[range.ordinal()] = Arena.global().allocateFrom(range.text());
        }
    }

    /**
     * Ranges for the profiler that started this process.
     *
     * @param injection value of {@code NVTX_INJECTION64_PATH}, which a profiler sets
     * @throws BackendUnavailable if there is no profiler, or it does not want ranges; the message says what to do
     */
    public static ProfilerRanges attach(Optional<Path> injection) {
        return Nvtx.attach(injection.orElseThrow(() ->
                new BackendUnavailable("no profiler has started this program (NVTX_INJECTION64_PATH is not set), so"
                        + " --nvtx has no effect; start it as nsys profile --trace=cuda,nvtx roseinfer ...")));
    }

    @Override
    public void begin(Range range) {
        push(names[range.ordinal()]);
    }

    /** Such as {@code decode, 64 rows, 64 tokens}. */
    @Override
    public void begin(Range range, int rows, int tokens) {
        int end = write(range.text(), 0);
        end = write(", ", end);
        end = write(rows, end);
        end = write(" rows, ", end);
        end = write(tokens, end);
        end = write(" tokens", end);
        numbered.set(ValueLayout.JAVA_BYTE, end, (byte) 0);
        push(numbered);
    }

    private int write(String text, int at) {
        for (int i = 0; i < text.length(); i++) {
            numbered.set(ValueLayout.JAVA_BYTE, at + i, (byte) text.charAt(i));
        }
        return at + text.length();
    }

    private int write(int value, int at) {
        int end = at;
        int divisor = 1;
        while (value / divisor >= 10) {
            divisor *= 10;
        }
        for (; divisor > 0; divisor /= 10) {
            numbered.set(ValueLayout.JAVA_BYTE, end++, (byte) ('0' + value / divisor % 10));
        }
        return end;
    }

    @SuppressWarnings("UnusedVariable") // the depth, which nobody asks for, but invokeExact wants it taken
    private void push(MemorySegment name) {
        try {
            int depth = (int) push.invokeExact(name);
        } catch (Throwable e) {
            throw new IllegalStateException("a native function throws nothing", e);
        }
    }

    @Override
    @SuppressWarnings("UnusedVariable")
    public void end() {
        try {
            int depth = (int) pop.invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException("a native function throws nothing", e);
        }
    }
}
