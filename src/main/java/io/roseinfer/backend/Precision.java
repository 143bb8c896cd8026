package io.roseinfer.backend;

/**
 * How a device holds the matrices of a model and computes with them. Sums are always accumulated in 32-bit floats; biases, norms
 * and positions are never narrowed. Not every device has every precision.
 */
public enum Precision {
    /** The precision that the device recommends for the checkpoint at hand. */
    AUTO,
    FP32,
    BF16,
    FP16,
    /** Weights as signed bytes with one scale per output; activations stay floating point. */
    INT8,
    /**
     * The layers' weights in 4 bits with one scale for every 32 inputs of an output, token embedding and head as {@link #INT8};
     * what is multiplied by 4 bits is rounded to 8, with one scale for every 32 of a row.
     */
    INT4
}
