package io.roseinfer.backend.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The launches of a step as {@code native/steps.c} reads them: one record after the other, so that one native call makes many. They
 * are kept, and if the next step is equal to this one, as the chunks of a long prompt are, they need not be written again.
 */
final class LaunchBatch {
    static final int MAX_ARGUMENTS = 32;

    /** Launches that go to the device in one call, while those behind them are still to be written. */
    static final int SENT_TOGETHER = 16;

    /** Of a step of more launches nothing is kept. */
    static final int CAPACITY = 512;

    private static final long GRID_X = 8;
    private static final long GRID_Y = 12;
    private static final long THREADS = 16;
    private static final long SHARED_BYTES = 20;
    private static final long CLUSTER = 24;
    private static final long OVERLAP = 28;
    private static final long ARGUMENTS = 32;
    private static final long RECORD_BYTES = ARGUMENTS + 8L * MAX_ARGUMENTS;

    private final CudaStream stream;
    private final MemorySegment records;
    private final Kernel[] kernels = new Kernel[CAPACITY];
    /** What all launches here are of; null while some are missing. */
    private @Nullable Object complete;

    private boolean overflowed;
    private int written;
    private int sent;

    LaunchBatch(CudaStream stream, Arena arena) {
        this.stream = stream;
        this.records = arena.allocate(RECORD_BYTES * CAPACITY, 64);
    }

    /** Whether these are the launches of a step equal to this one. */
    boolean isOf(Object step) {
        return step.equals(complete);
    }

    /** Forgets the launches there are. */
    void begin() {
        complete = null;
        overflowed = false;
        written = 0;
        sent = 0;
    }

    /**
     * Writes a launch down, and makes those that wait if they are many.
     *
     * @param values the arguments, eight bytes each
     */
    void add(
            Kernel kernel,
            int gridX,
            int gridY,
            int threads,
            int sharedBytes,
            int cluster,
            boolean overlap,
            MemorySegment values,
            int arguments) {
        long at = RECORD_BYTES * written;
        kernels[written] = kernel;
        records.set(ValueLayout.JAVA_LONG, at, kernel.function().address());
        set(at + GRID_X, gridX);
        set(at + GRID_Y, gridY);
        set(at + THREADS, threads);
        set(at + SHARED_BYTES, sharedBytes);
        set(at + CLUSTER, cluster);
        set(at + OVERLAP, overlap ? 1 : 0);
        MemorySegment.copy(values, 0, records, at + ARGUMENTS, 8L * arguments);
        written++;
        if (written - sent == SENT_TOGETHER) {
            send();
        }
        if (written == CAPACITY) {
            send();
            overflowed = true;
            written = 0;
            sent = 0;
        }
    }

    /** Makes the launches that still wait; those since {@link #begin} are all of this step. */
    void end(Object step) {
        send();
        complete = overflowed ? null : step;
    }

    /** Makes all launches again. */
    void repeat() {
        sent = 0;
        send();
    }

    private void send() {
        int first = sent;
        sent = written;
        for (int i = first; i < written; i++) {
            long at = RECORD_BYTES * i;
            stream.log()
                    .add(
                            kernels[i].name(),
                            get(at + GRID_X),
                            get(at + GRID_Y),
                            get(at + THREADS),
                            get(at + SHARED_BYTES));
        }
        stream.requireUsable();
        long outcome = NativeCalls.launch(
                records.address() + RECORD_BYTES * first,
                written - first,
                stream.handle().address());
        if (NativeCalls.code(outcome) != DriverStatus.SUCCESS) {
            complete = null;
            stream.check(NativeCalls.code(outcome), kernels[first + NativeCalls.index(outcome)].launching());
        }
    }

    private void set(long at, int value) {
        records.set(ValueLayout.JAVA_INT, at, value);
    }

    private int get(long at) {
        return records.get(ValueLayout.JAVA_INT, at);
    }
}
