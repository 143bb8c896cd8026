package io.roseinfer.backend.cuda;

import io.roseinfer.backend.ProfilerRanges;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Ranges as NVIDIA's profilers show them: through NVTX's header in the JNI library, or without that by way of {@link Nvtx}. Beginning
 * and ending one allocates nothing.
 */
public final class NvtxRanges implements ProfilerRanges {
    private static final int LONGEST_NAME = 128;

    private final RangeStack stack;
    private final MemorySegment[] names;
    /** The name of a range with numbers in it; the engine's thread alone writes it. */
    private final MemorySegment numbered = Arena.global().allocate(LONGEST_NAME);

    NvtxRanges(RangeStack stack) {
        this.stack = stack;
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
        Path library = injection.orElseThrow(() ->
                new BackendUnavailable("no profiler has started this program (NVTX_INJECTION64_PATH is not set), so"
                        + " --nvtx has no effect; start it as nsys profile --trace=cuda,nvtx roseinfer ..."));
        return new NvtxRanges(attach(library, NativeLibrary.instance()));
    }

    /** By which way ranges would go to a profiler, such as {@code by NVTX's header, in the native library}. */
    public static String binding() {
        return NativeLibrary.instance().description();
    }

    /** By the header if it has found a profiler that listens; else by {@link Nvtx}, which knows why one does not. */
    static RangeStack attach(Path library, NativeLibrary binding) {
        return binding.hasNvtx() && NativeCalls.attach(library.toString()) ? RangeStack.HEADER : Nvtx.attach(library);
    }

    @Override
    public void begin(Range range) {
        stack.push(names[range.ordinal()]);
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
        stack.push(numbered);
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

    @Override
    public void end() {
        stack.pop();
    }
}
