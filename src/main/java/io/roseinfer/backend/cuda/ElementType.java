package io.roseinfer.backend.cuda;

import io.roseinfer.backend.Precision;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.tensor.DType;
import java.util.Arrays;
import java.util.Optional;

/** Element types of weights and activations, with their names and numbers in the kernels. */
enum ElementType {
    F16(2, 1),
    BF16(2, 2),
    F32(4, 0),
    /** Weights only, with a scale per output; quantized on the device. */
    INT8(1, -1);

    private final int bytes;
    private final int number;

    ElementType(int bytes, int number) {
        this.bytes = bytes;
        this.number = number;
    }

    /** Returns the type's number in {@code numeric.cuh}; int8 has none. */
    int number() {
        Check.that(number >= 0, "no tensor is stored as int8 with scales");
        return number;
    }

    int bytes() {
        return bytes;
    }

    /** Returns the precision of matrices of this type. */
    Precision precision() {
        return switch (this) {
            case F32 -> Precision.FP32;
            case F16 -> Precision.FP16;
            case BF16 -> Precision.BF16;
            case INT8 -> Precision.INT8;
        };
    }

    /** Returns the suffix of kernel names. */
    String suffix() {
        return switch (this) {
            case F32 -> "f32";
            case F16 -> "f16";
            case BF16 -> "bf16";
            case INT8 -> "int8";
        };
    }

    /** Returns the type of activations for weights of this type. */
    ElementType activations() {
        return this == INT8 ? BF16 : this;
    }

    /** Returns whether matrices have a scale per output; norm weights are folded into other matrices only. */
    boolean scalesOutputs() {
        return this == INT8;
    }

    /** Returns the activation panels per weight panel. */
    int activationPanels() {
        return activations().bytes / bytes;
    }

    /** Returns the elements in a panel's row of 128 bytes. */
    int panelWidth() {
        return 128 / bytes;
    }

    /**
     * Returns the weight type for a precision. {@link Precision#AUTO} is bf16 for bfloat16 checkpoints and for float32 ones with RMS norm,
     * whose residual stream exceeds the range of fp16; else fp16.
     */
    static ElementType of(Precision precision, DType checkpoint, boolean rmsNorms) {
        if (precision == Precision.AUTO) {
            return checkpoint == DType.BF16 || (rmsNorms && checkpoint == DType.F32) ? BF16 : F16;
        }
        return of(precision).orElseThrow(() -> unavailable(precision));
    }

    /** Returns the weight type of a precision; empty if no kernels support it. */
    static Optional<ElementType> of(Precision precision) {
        return Arrays.stream(values())
                .filter(type -> type.precision() == precision)
                .findFirst();
    }

    /** Returns the error for a precision without CUDA kernels. */
    static BadInput unavailable(Precision precision) {
        return precision.unavailable(
                "cuda", Arrays.stream(values()).map(ElementType::precision).toList());
    }

    static ElementType of(DType type) {
        return switch (type) {
            case F32 -> F32;
            case F16 -> F16;
            case BF16 -> BF16;
            default -> throw new IllegalStateException("weights of type " + type + " were let in");
        };
    }
}
