package io.roseinfer.backend.cuda;

import io.roseinfer.backend.Precision;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.tensor.DType;
import java.util.Arrays;
import java.util.Optional;

/** How weights and activations rest in device memory; the kernels know these by name and number. */
enum ElementType {
    F16(2, 1),
    BF16(2, 2),
    F32(4, 0),
    /** Weights alone, as integers with one scale per output: they are packed on the device, from a tensor of another type. */
    INT8(1, -1);

    private final int bytes;
    private final int number;

    ElementType(int bytes, int number) {
        this.bytes = bytes;
        this.number = number;
    }

    /** The type in {@code numeric.cuh}; packed weights of one byte have none. */
    int number() {
        Check.that(number >= 0, "bytes with scales are not how a tensor is stored");
        return number;
    }

    int bytes() {
        return bytes;
    }

    /** The precision of matrices of this type. */
    Precision precision() {
        return switch (this) {
            case F32 -> Precision.FP32;
            case F16 -> Precision.FP16;
            case BF16 -> Precision.BF16;
            case INT8 -> Precision.INT8;
        };
    }

    /** Suffix of kernel names. */
    String suffix() {
        return switch (this) {
            case F32 -> "f32";
            case F16 -> "f16";
            case BF16 -> "bf16";
            case INT8 -> "int8";
        };
    }

    /** The type of the activations, keys and values of a model whose weights are of this type. */
    ElementType activations() {
        return this == INT8 ? BF16 : this;
    }

    /**
     * Returns whether matrices have a scale per output, and the weights of the norm before them apart. In other matrices that norm is
     * folded in.
     */
    boolean scalesOutputs() {
        return this == INT8;
    }

    /** Returns the panels of activations that have the inputs of one panel of weights. */
    int activationPanels() {
        return activations().bytes / bytes;
    }

    /** Elements of one row of a panel, which is 128 bytes wide. */
    int panelWidth() {
        return 128 / bytes;
    }

    /**
     * The type of the weights for a precision asked for. {@link Precision#AUTO} keeps a bfloat16 checkpoint, and takes it for a
     * float32 one of a model with RMS norms, whose residual stream grows beyond the range of float16; otherwise it takes fp16.
     */
    static ElementType of(Precision precision, DType checkpoint, boolean rmsNorms) {
        if (precision == Precision.AUTO) {
            return checkpoint == DType.BF16 || (rmsNorms && checkpoint == DType.F32) ? BF16 : F16;
        }
        return of(precision).orElseThrow(() -> unavailable(precision));
    }

    /** Returns the type of matrices of a precision; empty if no kernels have it. */
    static Optional<ElementType> of(Precision precision) {
        return Arrays.stream(values())
                .filter(type -> type.precision() == precision)
                .findFirst();
    }

    /** Returns the refusal of a precision that no matrix on a GPU can have. */
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
