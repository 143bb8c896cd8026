package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Prefetches a worker's next weights while it waits at a barrier, a cache line at a time, so that memory is not idle.
 */
final class BarrierPrefetch implements EventCount.WaitTask {
    /** Maximum bytes to prefetch: half the L2 cache of current servers. */
    private static final long MAX_BYTES = 512 << 10;

    private static final int LINE_BYTES = 64;
    private static final int STEP_BYTES = 8 * LINE_BYTES;

    private MemorySegment memory = MemorySegment.NULL;
    private long start;
    private long at;
    private long end;
    /** Keeps the reads from being compiled away. */
    @SuppressWarnings("UnusedVariable")
    private int read;

    /** Targets panels {@code first <= panel < end} of a matrix; continues if they are already the target. */
    public void aim(PackedMatrix matrix, int first, int end) {
        long from = matrix.panelStart(first);
        if (matrix.memory().equals(memory) && from == start) {
            return;
        }
        memory = matrix.memory();
        start = from;
        at = from;
        this.end = Math.min(matrix.panelStart(end), from + MAX_BYTES) - STEP_BYTES;
    }

    @Override
    public void run() {
        if (at > end) {
            Thread.onSpinWait();
            return;
        }
        int sum = 0;
        for (int line = 0; line < STEP_BYTES; line += LINE_BYTES) {
            sum += memory.get(ValueLayout.JAVA_INT, at + line);
        }
        read += sum;
        at += STEP_BYTES;
    }
}
