package io.roseinfer.model;

import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.Arrays;

/** Distinguishes a trained output matrix from a copy of the token embedding, which many tools save as well. */
public final class UntiedHeadCheck {
    private static final int CHUNK = 1 << 14;

    private UntiedHeadCheck() {}

    /** Returns whether two tensors of the same shape have different values; their types may differ. */
    public static boolean differs(StoredTensor embedding, StoredTensor head) {
        try (Arena arena = Arena.ofConfined()) {
            Tensor first = embedding.read(arena);
            Tensor second = head.read(arena);
            float[] left = new float[CHUNK];
            float[] right = new float[CHUNK];
            for (long from = 0; from < first.elements(); from += CHUNK) {
                int count = (int) Math.min(CHUNK, first.elements() - from);
                first.copyTo(from, left, 0, count);
                second.copyTo(from, right, 0, count);
                if (!Arrays.equals(left, 0, count, right, 0, count)) {
                    return true;
                }
            }
            return false;
        }
    }
}
