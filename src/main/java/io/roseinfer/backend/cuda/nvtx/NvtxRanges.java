package io.roseinfer.backend.cuda.nvtx;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Emits the engine's activity as NVTX ranges, through NVTX's header in the JNI library or else {@link Nvtx}. Ranges nest per thread;
 * emitting them allocates nothing.
 */
public final class NvtxRanges implements StepObserver, RequestObserver {
    /** The kinds of ranges. */
    private enum Range {
        /** Accepting a request, on the caller's thread. */
        SUBMIT("submit"),
        /** One iteration of the engine's loop. */
        STEP("step"),
        /** Choosing the rows of the next step. */
        PLAN("plan"),
        /** Admitting waiting requests, within {@link #PLAN}. */
        ADMIT("admit"),
        /** Packing the step's inputs. */
        PACK("pack"),
        /** Starting a step with prompt tokens. */
        PREFILL("prefill"),
        /** Starting a step of decode rows. */
        DECODE("decode"),
        /** Waiting for the oldest step in flight and its sampled tokens. */
        SAMPLE("sample"),
        /** Delivering tokens and outcomes to their streams. */
        EMIT("emit");

        private final String text;

        Range(String text) {
            this.text = text;
        }
    }

    private static final int MAX_NAME_BYTES = 128;

    private final RangeStack stack;
    private final MemorySegment[] names;
    /** Name buffer of ranges with numbers; written by the engine's thread only. */
    private final MemorySegment numbered = Arena.global().allocate(MAX_NAME_BYTES);
    /** Open ranges of the engine's thread. */
    private int open;

    NvtxRanges(RangeStack stack) {
        this.stack = stack;
        this.names = new MemorySegment[Range.values().length];
        for (Range range : Range.values()) {
            names[range.ordinal()] = Arena.global().allocateFrom(range.text);
        }
    }

    /**
     * Attaches to the profiler that started this process.
     *
     * @param injection value of {@code NVTX_INJECTION64_PATH}, which a profiler sets
     * @throws BackendUnavailable if there is no profiler, or it ignores ranges
     */
    public static NvtxRanges attach(Optional<Path> injection) {
        Path library = injection.orElseThrow(() -> new BackendUnavailable(
                "no profiler has started this program (NVTX_INJECTION64_PATH is not set), so there are no ranges",
                Remedy.of("start it as nsys profile --trace=cuda,nvtx roseinfer ...")));
        return new NvtxRanges(attach(library, NativeLibrary.instance()));
    }

    /** Returns observers that emit ranges of requests and of each replica's steps. */
    public Observers observers() {
        return Observers.ofRequests(this)
                .and(Observers.ofStepsOfEach(replica -> replica == 0 ? this : new NvtxRanges(stack)));
    }

    /** Returns how ranges would be emitted, such as {@code by NVTX's header, in the native library}. */
    public static String binding() {
        return NativeLibrary.instance().description();
    }

    /** Attaches through the header if it found a profiler; else through {@link Nvtx}, which reports why not. */
    static RangeStack attach(Path library, NativeLibrary binding) {
        return binding.hasNvtx() && NativeCalls.attach(library.toString()) ? RangeStack.HEADER : Nvtx.attach(library);
    }

    @Override
    public void on(RequestEvent event) {
        switch (event) {
            case RequestEvent.Submitting() -> stack.push(names[Range.SUBMIT.ordinal()]);
            case RequestEvent.Submitted() -> stack.pop();
            default -> {}
        }
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        switch (event) {
            case ITERATION_STARTED -> begin(Range.STEP);
            case PLANNING -> begin(Range.PLAN);
            case ADMITTING -> begin(Range.ADMIT);
            case PLANNED -> {
                end();
                begin(Range.PACK);
            }
            case PACKED -> {
                end();
                beginSubmit(step);
            }
            case AWAITING -> begin(Range.SAMPLE);
            case DELIVERING -> begin(Range.EMIT);
            case ADMITTED, IDLE, SUBMITTED, AWAITED, DELIVERED -> end();
            case APPLIED -> {}
            case ITERATION_ENDED -> {
                while (open > 0) {
                    end();
                }
            }
        }
    }

    /** Begins a range such as {@code decode, 64 rows, 64 tokens}. */
    private void beginSubmit(StepRecord step) {
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
