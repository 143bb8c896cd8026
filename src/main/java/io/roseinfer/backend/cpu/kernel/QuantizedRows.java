package io.roseinfer.backend.cpu.kernel;

/**
 * Quantized activations: integers a from -127 to 127, and one scale for every {@value #GROUP} inputs of a row, {@code x ≈ scale · a}. A row
 * has {@value #GROUP_WORDS} words per group:
 *
 * <ul>
 *   <li>16 pairs. Pair 4·w + i goes with nibbles i and i + 4 of the group's weight word w, in its lower and upper 16 bits.
 *   <li>-8 times the group's sum of a, in the lower 16 bits: weights are stored with 8 added.
 *   <li>The scale, a float.
 * </ul>
 *
 * <p>Kernels need not mask nibbles: it multiplies a pair by the weight word shifted right by 4·i bits, in two lanes of 16 bits,
 * modulo 2¹⁶. With n the nibbles of a word and U(i) the word shifted by i nibbles, n(i) = U(i) - 16·U(i + 1) for any bits; so
 * {@code Σ a(i)·n(i) = Σ b(i)·U(i)} with {@code b(i) = a(i) - 16·a(i - 1)}, {@code b(0) = a(0)}, and b is what the pairs hold.
 * The partial sum of one lane is meaningless alone. Both lanes of a group together come to at most 32 · 127 · 8 = 32,512 in
 * magnitude, so the sum modulo 2¹⁶ is the sum.
 *
 * <p>Rows are in tiles as in {@link RowTiles}, with words in place of inputs. Groups come in pairs, like groups of weights; padding inputs
 * are zero.
 */
public final class QuantizedRows {
    /** Inputs that share a scale. */
    public static final int GROUP = 32;

    /** Words per row and group. */
    public static final int GROUP_WORDS = 18;

    /** Pairs per row and group. */
    public static final int PAIRS = 16;

    /** Index of the word that undoes the offset of the weights. */
    public static final int OFFSET = 16;

    /** Index of the scale's word. */
    public static final int SCALE = 17;

    /** Maximum magnitude of an activation. */
    public static final int LARGEST = 127;

    /** Adding it rounds a float to the nearest integer, ties to even. */
    public static final float ROUNDER = 0x1.8p23f;

    /** Bits of {@link #ROUNDER}: a rounded float's bits minus these are its integer value. */
    public static final int ROUNDER_BITS = Float.floatToRawIntBits(ROUNDER);

    /** Groups with all activations below this become zero: the inverse of their scale could overflow. */
    private static final float VANISHING = 1e-30f;

    private static final int INFINITY_BITS = Float.floatToRawIntBits(Float.POSITIVE_INFINITY);
    private static final int MAGNITUDE = 0x7fffffff;

    private QuantizedRows() {}

    /** Returns the groups of a row of {@code inputs}, an even number. */
    public static int groups(int inputs) {
        return 2 * Math.ceilDiv(inputs, 2 * GROUP);
    }

    /** Returns the words of a row of {@code inputs}. */
    public static int words(int inputs) {
        return groups(inputs) * GROUP_WORDS;
    }

    /** Returns a group's scale, from the bits of its largest magnitude; NaN if that is not finite, so that the fault shows. */
    public static float scale(int largestBits) {
        return largestBits >= INFINITY_BITS ? Float.NaN : Float.intBitsToFloat(largestBits) / LARGEST;
    }

    /** Returns the inverse scale of a group, by which activations are multiplied before rounding. */
    public static float inverse(int largestBits) {
        float largest = Float.intBitsToFloat(largestBits);
        return largest < VANISHING ? 0 : LARGEST / largest;
    }

    /** Quantizes the {@code count ≤ GROUP} activations of a group to the words at {@code to}. */
    public static void quantize(float[] x, int from, int count, int[] words, int to) {
        int largestBits = 0;
        for (int k = from; k < from + count; k++) {
            largestBits = Math.max(largestBits, Float.floatToRawIntBits(x[k]) & MAGNITUDE);
        }
        float inverse = inverse(largestBits);
        int sum = 0;
        int before = 0;
        for (int k = 0; k < GROUP; k++) {
            int a = k < count ? Float.floatToRawIntBits(x[from + k] * inverse + ROUNDER) - ROUNDER_BITS : 0;
            int b = k % 8 == 0 ? a : a - 16 * before;
            int pair = to + k / 8 * 4 + k % 4;
            words[pair] = k % 8 < 4 ? b & 0xffff : words[pair] | b << 16;
            before = a;
            sum += a;
        }
        words[to + OFFSET] = -8 * sum & 0xffff;
        words[to + SCALE] = Float.floatToRawIntBits(scale(largestBits));
    }

    /** Writes the activations of the group whose words begin at {@code from}, not scaled, to {@code target}. */
    public static void unpack(int[] words, int from, int[] target) {
        int before = 0;
        for (int k = 0; k < GROUP; k++) {
            int b = words[from + k / 8 * 4 + k % 4] >> (k % 8 < 4 ? 0 : 16);
            before = (short) (k % 8 == 0 ? b : b + 16 * before);
            target[k] = before;
        }
    }

    /** Stores a quantized row in a matmul input of {@code rows}. */
    public static void put(int[] words, int inputs, int[] tiles, int row, int rows, int tallest) {
        int count = words(inputs);
        int first = RowTiles.first(row, rows, tallest);
        int height = RowTiles.height(first, rows, tallest);
        int at = first * count + (row - first);
        if (height == 1) {
            System.arraycopy(words, 0, tiles, at, count);
            return;
        }
        for (int word = 0; word < count; word++) {
            tiles[at + word * height] = words[word];
        }
    }
}
