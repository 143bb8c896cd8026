package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.model.OpenMatrix;

/** What one thread packs panels in; used again for every matrix of a model. */
final class PackingBuffer {
    /** Rows of words that are written to a packed matrix together. */
    static final int WORD_ROWS = 16;

    /** The most inputs that share a word. */
    private static final int MOST_PER_WORD = 8;

    /** The weights of a panel, [inputs, rounded up to whole words][COLUMNS]. */
    final float[] weights;

    /** The weights of one input, copied: loops whose arrays share one index become vector code. */
    final float[] row = new float[COLUMNS];

    final int[] words = new int[WORD_ROWS * COLUMNS];
    final float[] inverse = new float[COLUMNS];
    final Int4Packer int4 = new Int4Packer();
    final OpenMatrix.Buffer reading = new OpenMatrix.Buffer();

    /** For panels of up to {@code inputs} inputs. */
    public PackingBuffer(int inputs) {
        weights = new float[Math.multiplyExact(padded(inputs), COLUMNS)];
    }

    /** About what one takes. */
    public static long bytes(int inputs) {
        return 4L * padded(inputs) * COLUMNS;
    }

    private static int padded(int inputs) {
        return Math.ceilDiv(inputs, MOST_PER_WORD) * MOST_PER_WORD;
    }
}
