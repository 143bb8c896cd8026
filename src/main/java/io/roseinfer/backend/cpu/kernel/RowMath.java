package io.roseinfer.backend.cpu.kernel;

import io.roseinfer.model.Activation;

/** What is done to one row of activations at a time. */
public interface RowMath {

    /**
     * Layer normalisation: {@code fma((x − mean) · (1 / √(variance + epsilon)), gain, bias)}; mean and variance are summed in the
     * order of {@link Lanes}.
     */
    void layerNorm(float[] x, int from, float[] gain, float[] bias, float epsilon, float[] output);

    /** Applies the nonlinearity, as {@link FloatMath} defines it, to {@code values[0 … count)}. */
    void activate(Activation activation, float[] values, int count);

    /** Quantizes {@code inputs} activations of a row to the first {@link QuantizedRows#words} of {@code words}. */
    void quantize(float[] x, int from, int inputs, int[] words);
}
