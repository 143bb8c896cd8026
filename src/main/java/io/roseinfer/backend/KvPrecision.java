package io.roseinfer.backend;

/** Precision of the KV cache. Arithmetic is not affected. Not every device supports every precision. */
public enum KvPrecision {
    /** The type of the activations. */
    AUTO,
    /**
     * E4M3 (4 bits of exponent, 3 of mantissa) without scales: half the memory and traffic of 16 bits. Values are rounded to nearest, by up
     * to a sixteenth, and saturate at 448.
     */
    FP8
}
