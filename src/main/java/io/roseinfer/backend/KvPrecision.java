package io.roseinfer.backend;

/** How a device holds keys and values. Products and sums over them are not narrowed. Not every device has every one. */
public enum KvPrecision {
    /** The type of the activations. */
    AUTO,
    /**
     * One byte each, with 4 bits of exponent and 3 of mantissa (E4M3), without scales: half the memory and half the reading of 16 bits.
     * Numbers are rounded to nearest, by up to a sixteenth, and those beyond 448 become 448.
     */
    FP8
}
