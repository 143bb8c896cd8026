package io.roseinfer.backend.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Memory of the host that the device writes tokens to: one word per sample, the step's number above the token, written in one
 * store. So the host needs to wait for nothing but the words themselves.
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

    /** Whether the sample's token of this step is there. */
    boolean has(int sample, int step) {
        return (int) ((long) WORD.getAcquire(words, 8L * sample) >>> 32) == step;
    }

    int token(int sample) {
        return (int) (long) WORD.getAcquire(words, 8L * sample);
    }
}
