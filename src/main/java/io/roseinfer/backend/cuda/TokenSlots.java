package io.roseinfer.backend.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Host-mapped result slots, one per sample. Step number and token arrive in one 64-bit store, so polling a slot suffices.
 */
final class TokenSlots {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment words;

    TokenSlots(MemorySegment words) {
        this.words = words;
    }

    long address() {
        return words.address();
    }

    /** Returns whether the sample's token of this step has arrived. */
    boolean has(int sample, int step) {
        return (int) ((long) WORD.getAcquire(words, 8L * sample) >>> 32) == step;
    }

    int token(int sample) {
        return (int) (long) WORD.getAcquire(words, 8L * sample);
    }
}
