package io.roseinfer.model;

import io.roseinfer.base.Check;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Positions.Scaling;

/**
 * Cosines and sines of RoPE, [position][rotarySize]: {@code rotarySize / 2} cosines, then as many sines. Rows are
 * computed when a position is first needed, a few hundred at a time, because contexts are long and most requests short.
 *
 * <p>Every step is rounded to 32 bits as in transformers ({@code modeling_rope_utils.py}): the power, its inverse,
 * the scaled frequency, and its product with the position. Checkpoints were trained with those angles, which at
 * position 100,000 are off by up to 7e-3. The cosine of the rounded angle is computed in 64 bits.
 */
public final class RopeTable {
    /** Positions whose rows are computed together; a power of two. */
    private static final int CHUNK = 256;

    private final Rope rope;
    private final int positions;
    private final float[][] chunks;
    /** Number of computed chunks, written after them, so that readers of this field see them. */
    private volatile int made;

    /** Creates a table without computed rows. */
    public RopeTable(Rope rope, int positions) {
        this.rope = rope;
        this.positions = positions;
        this.chunks = new float[Math.ceilDiv(positions, CHUNK)][];
    }

    /** Computes the rows up to {@code position} unless they exist; any thread may call it. */
    public void reach(int position) {
        Check.index(position, positions, "position");
        if (position / CHUNK >= made) {
            make(position / CHUNK + 1);
        }
    }

    private synchronized void make(int count) {
        for (int chunk = made; chunk < count; chunk++) {
            int first = chunk * CHUNK;
            chunks[chunk] = rows(rope, first, Math.min(CHUNK, positions - first));
            made = chunk + 1;
        }
    }

    /** Returns an array with the row of a computed position. */
    public float[] array(int position) {
        return chunks[position / CHUNK];
    }

    /** Returns the offset of a position's row in {@link #array}. */
    public int offset(int position) {
        return position % CHUNK * rope.rotarySize();
    }

    /** Returns the number of cosines per row. */
    public int pairs() {
        return rope.rotarySize() / 2;
    }

    /** Computes the rows of {@code count} positions from {@code first} on. */
    public static float[] rows(Rope rope, int first, int count) {
        int pairs = rope.rotarySize() / 2;
        float[] frequencies = frequencies(rope);
        float factor = rope.scaling() instanceof Scaling.Yarn yarn ? (float) yarn.attentionFactor() : 1f;
        float[] table = new float[Math.multiplyExact(count, 2 * pairs)];
        for (int position = 0; position < count; position++) {
            int row = position * 2 * pairs;
            for (int i = 0; i < pairs; i++) {
                float angle = (first + position) * frequencies[i];
                table[row + i] = (float) Math.cos(angle) * factor;
                table[row + pairs + i] = (float) Math.sin(angle) * factor;
            }
        }
        return table;
    }

    /** Returns the radians per position of each pair. */
    static float[] frequencies(Rope rope) {
        float[] powers = new float[rope.rotarySize() / 2];
        for (int i = 0; i < powers.length; i++) {
            float exponent = (float) (2 * i) / rope.rotarySize();
            powers[i] = (float) Math.pow((float) rope.theta(), exponent);
        }
        float[] frequencies = new float[powers.length];
        for (int i = 0; i < powers.length; i++) {
            float plain = 1f / powers[i];
            frequencies[i] = switch (rope.scaling()) {
                case Scaling.None none -> plain;
                case Scaling.Linear linear -> plain / (float) linear.factor();
                case Scaling.ByWavelength scaling -> byWavelength(plain, scaling);
                case Scaling.Yarn yarn -> yarn(powers[i], i, rope, yarn);
            };
        }
        return frequencies;
    }

    private static float byWavelength(float plain, Scaling.ByWavelength scaling) {
        float factor = (float) scaling.factor();
        float wavelength = (float) (2 * Math.PI) / plain;
        if (wavelength < (float) (scaling.originalContext() / scaling.highFrequency())) {
            return plain;
        }
        if (wavelength > (float) (scaling.originalContext() / scaling.lowFrequency())) {
            return plain / factor;
        }
        float smooth = (scaling.originalContext() / wavelength - (float) scaling.lowFrequency())
                / (float) (scaling.highFrequency() - scaling.lowFrequency());
        return (1 - smooth) * plain / factor + smooth * plain;
    }

    private static float yarn(float power, int pair, Rope rope, Scaling.Yarn yarn) {
        double low = rotatingPair(yarn.betaFast(), rope, yarn);
        double high = rotatingPair(yarn.betaSlow(), rope, yarn);
        low = Math.max(yarn.truncate() ? Math.floor(low) : low, 0);
        high = Math.min(yarn.truncate() ? Math.ceil(high) : high, rope.rotarySize() - 1.0);
        high = low == high ? high + 0.001 : high;
        float kept = 1 - Math.clamp((pair - (float) low) / (float) (high - low), 0f, 1f);
        return 1f / ((float) yarn.factor() * power) * (1 - kept) + 1f / power * kept;
    }

    /**
     * Returns the pair that rotates the given number of times within the original context, as a fraction between pairs.
     */
    private static double rotatingPair(double rotations, Rope rope, Scaling.Yarn yarn) {
        return rope.rotarySize()
                * Math.log(yarn.originalContext() / (rotations * 2 * Math.PI))
                / (2 * Math.log(rope.theta()));
    }
}
