package io.roseinfer.backend.cpu.kernel;

/**
 * The layout of weights in the 32-bit words of a {@link PackedMatrix}: a word holds the weights of one output for one, two,
 * four or eight consecutive inputs, the first of them in the lowest bits. So one vector of words serves neighbouring outputs at any width,
 * and the inputs of an output still come in ascending order.
 */
public enum WeightFormat {
    F32(1),
    BF16(2),
    INT8(4),
    /** Nibbles, with 8 added, and a scale for every {@value QuantizedRows#GROUP} inputs of an output, among the words. */
    INT4(8);

    /** The value of {@link #decode} for an INT8 weight of one. A power of two: scales that undo it lose nothing. */
    public static final float INT8_UNIT = 0x1p24f;

    private final int perWord;

    WeightFormat(int perWord) {
        this.perWord = perWord;
    }

    /** The format of token embedding and head in a model of this one: where every logit comes from, 4 bits cost most. */
    public WeightFormat ofHead() {
        return this == INT4 ? INT8 : this;
    }

    /** Inputs whose weights share a word. */
    public int perWord() {
        return perWord;
    }

    /**
     * The weight of the word's input {@code which}, exactly; for {@link #INT8} and {@link #INT4} before it is scaled, and for
     * {@link #INT8} times {@link #INT8_UNIT}: so a kernel need not shift it down before it converts the lane.
     */
    public float decode(int word, int which) {
        return switch (this) {
            case F32 -> Float.intBitsToFloat(word);
            case BF16 -> Float.intBitsToFloat(which == 0 ? word << 16 : word & 0xffff0000);
            case INT8 -> (float) (word << (24 - 8 * which) & 0xff000000);
            case INT4 -> (word >>> (4 * which) & 15) - 8;
        };
    }

    /** Decodes the weights of input {@code which} of {@code count} words to {@code target[from …]}. */
    void decode(int[] words, int count, int which, float[] target, int from) {
        if (this == BF16) {
            int shift = 16 - 16 * which;
            for (int i = 0; i < count; i++) {
                target[from + i] = Float.intBitsToFloat(words[i] << shift & 0xffff0000);
            }
            return;
        }
        for (int i = 0; i < count; i++) {
            target[from + i] = decode(words[i], which);
        }
    }
}
