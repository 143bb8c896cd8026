package io.roseinfer.backend.cuda.nvtx;

import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepObserver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What the engine does as named ranges of time, which NVIDIA's profilers show above what the device did: through NVTX's header in the
 * JNI library, or without that by way of {@link Nvtx}. Ranges nest, per thread. Beginning and ending one allocates nothing.
 */
public final class NvtxRanges implements StepObserver, RequestObserver {
    /** The kinds of ranges. */
    private enum Range {
        /** Accepting a request, on the caller's thread. */
        SUBMIT("submit"),
        /** One turn of the engine's loop. */
        STEP("step"),
        /** Choosing the rows of the next step. */
        PLAN("plan"),
        /** Looking at the requests that wait and admitting those that fit, as part of {@link #PLAN}. */
        ADMIT("admit"),
        /** Writing the step down for the device. */
        PACK("pack"),
        /** Starting a step with prompt tokens in it. */
        PREFILL("prefill"),
        /** Starting a step whose rows bring one token each. */
        DECODE("decode"),
        /** Waiting for the oldest step in flight and its sampled tokens. */
        SAMPLE("sample"),
        /** Handing tokens and endings to their streams. */
        EMIT("emit");

        private final String text;

        Range(String text) {
            this.text = text;
        }
    }

    private static final int LONGEST_NAME = 128;

    private final RangeStack stack;
    private final MemorySegment[] names;
    /** The name of a range with numbers in it; the engine's thread alone writes it. */
    private final MemorySegment numbered = Arena.global().allocate(LONGEST_NAME);
    /** Ranges that the engine's thread has begun and not ended. */
    private int open;

    NvtxRanges(RangeStack stack) {
        this.stack = stack;
        this.names = new MemorySegment[Range.values().length];
        for (Range range : Range.values()) {
            names[range.ordinal()] = Arena.global().allocateFrom(range.text);
        }
    }

    /**
     * Ranges for the profiler that started this process.
     *
     * @param injection value of {@code NVTX_INJECTION64_PATH}, which a profiler sets
     * @throws BackendUnavailable if there is no profiler, or it does not want ranges; the message says what to do
     */
    public static NvtxRanges attach(Optional<Path> injection) {
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
    public void submitting() {
        stack.push(names[Range.SUBMIT.ordinal()]);
    }

    @Override
    public void submitted() {
        stack.pop();
    }

    @Override
    public void turnBegins() {
        begin(Range.STEP);
    }

    @Override
    public void turnEnds() {
        while (open > 0) {
            end();
        }
    }

    @Override
    public void planning(StepRecord step) {
        begin(Range.PLAN);
    }

    @Override
    public void admitting(StepRecord step) {
        begin(Range.ADMIT);
    }

    @Override
    public void admitted(StepRecord step) {
        end();
    }

    @Override
    public void idle(StepRecord step) {
        end();
    }

    @Override
    public void planned(StepRecord step) {
        end();
        begin(Range.PACK);
    }

    /** Ends packing and begins a range such as {@code decode, 64 rows, 64 tokens}. */
    @Override
    public void packed(StepRecord step) {
        end();
        int rows = (int) step.get(Fact.ROWS);
        int tokens = (int) step.get(Fact.TOKENS);
        int at = write(rows == tokens ? Range.DECODE.text : Range.PREFILL.text, 0);
        at = write(", ", at);
        at = write(rows, at);
        at = write(" rows, ", at);
        at = write(tokens, at);
        at = write(" tokens", at);
        numbered.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
        begin(numbered);
    }

    @Override
    public void submitted(StepRecord step) {
        end();
    }

    @Override
    public void awaiting(StepRecord step) {
        begin(Range.SAMPLE);
    }

    @Override
    public void awaited(StepRecord step) {
        end();
    }

    @Override
    public void delivering() {
        begin(Range.EMIT);
    }

    @Override
    public void delivered() {
        end();
    }

    private void begin(Range range) {
        begin(names[range.ordinal()]);
    }

    private void begin(MemorySegment name) {
        open++;
        stack.push(name);
    }

    private void end() {
        open--;
        stack.pop();
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
}
