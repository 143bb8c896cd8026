package io.roseinfer.backend;

import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Weight precision of a model on a device. Accumulation is always in 32-bit floats; biases, norms and positions are not quantized. Not
 * every device supports every precision.
 */
public enum Precision {
    /** The device's default for the checkpoint. */
    AUTO,
    FP32,
    BF16,
    FP16,
    /** Int8 weights with a scale per output; activations stay floating point. */
    INT8,
    /**
     * Int4 weights with a scale for every 32 inputs of an output; token embedding and head are {@link #INT8}. Inputs of int4 matmuls are
     * quantized to 8 bits with a scale for every 32 elements of a row.
     */
    INT4;

    /** Returns the name in {@code --dtype}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the error of a device that does not support this precision.
     *
     * @param available supported precisions other than {@link #AUTO}; two or more
     */
    public BadInput unavailable(String device, List<Precision> available) {
        String all = available.stream().map(Precision::label).collect(Collectors.joining(", ", "auto, ", ""));
        int last = all.lastIndexOf(", ");
        return new BadInput("dtype " + label() + " is not available on " + device + "; use " + all.substring(0, last)
                + " or " + all.substring(last + 2));
    }
}
