package io.roseinfer.backend;

import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

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
    INT4;

    /** Returns the name as {@code --dtype} takes it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the refusal of this precision by a device without it.
     *
     * @param available precisions that the device has, besides {@link #AUTO}; two or more
     */
    public BadInput unavailable(String device, List<Precision> available) {
        String all = available.stream().map(Precision::label).collect(Collectors.joining(", ", "auto, ", ""));
        int last = all.lastIndexOf(", ");
        return new BadInput("dtype " + label() + " is not available on " + device + "; use " + all.substring(0, last)
                + " or " + all.substring(last + 2));
    }
}
