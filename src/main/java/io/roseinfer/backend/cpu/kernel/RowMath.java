package io.roseinfer.backend.cpu.kernel;

import io.roseinfer.model.Activation;

/** Operations on one row of activations. */
public interface RowMath {

    /**
     * Layer norm: {@code fma((x − mean) · (1 / √(variance + epsilon)), weight, bias)}; mean and variance are summed in the
     * order of {@link Lanes}.
     */
    void layerNorm(float[] x, int from, float[] weight, float[] bias, float epsilon, float[] output);

    /**
     * RMS norm: {@code x · (1 / √(mean of x² + epsilon)) · weight}, from the left; the squares are summed in the
     * order of {@link Lanes}.
     *
     * @param weight as many as there are elements
     * @param output filled from {@code to} on; may be {@code x} itself with {@code to == from}
     */
    void rmsNorm(float[] x, int from, float[] weight, float epsilon, float[] output, int to);

    /**
     * RoPE: rotates pairs of elements in place: {@code x[i]} and {@code x[i + pairs]} become {@code fma(-x[i + pairs], sin, x[i] · cos)} and
     * {@code fma(x[i], sin, x[i + pairs] · cos)}.
     *
     * @param x the pairs' first elements start at {@code from}
     * @param rope {@code pairs} cosines from {@code at} on, followed by as many sines
     */
    void rotate(float[] x, int from, float[] rope, int at, int pairs);

    /** Multiplies {@code values[0 … count)} by {@code factors[0 … count)}. */
    void multiply(float[] values, float[] factors, int count);

    /** Applies an activation function of {@link FloatMath} to {@code values[0 … count)}. */
    void activate(Activation activation, float[] values, int count);

    /** Quantizes {@code inputs} activations of a row to the first {@link QuantizedRows#words} of {@code words}. */
    void quantize(float[] x, int from, int inputs, int[] words);
}
