package io.roseinfer.backend.cpu.kernel;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.Precision;
import io.roseinfer.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A weight format: layout in the 32-bit words of a {@link PackedMatrix}, packing, and the inputs that matmuls read. Each format is a
 * class; {@link #all} lists them.
 *
 * <p>A word holds the weights of one output for one, two, four or eight consecutive inputs, the first of them in the lowest bits. So
 * one vector of words serves neighboring outputs at any width, and the inputs of an output still come in ascending order.
 */
public sealed interface WeightFormat permits Fp32Weights, Bf16Weights, Int8Weights, Int4Weights {
    /** Packs panels of one format; one thread uses it. */
    interface Packer {
        /**
         * Packs a panel.
         *
         * @param weights [inputs][COLUMNS], and zeros up to a whole number of words
         */
        void pack(float[] weights, PackedMatrix packed, int panel);
    }

    /** Returns every format. */
    static List<WeightFormat> all() {
        return List.of(new Fp32Weights(), new Bf16Weights(), new Int8Weights(), new Int4Weights());
    }

    /** Returns the format of a precision; empty if the CPU has no kernels for it. */
    static Optional<WeightFormat> of(Precision precision) {
        return all().stream().filter(format -> format.precision() == precision).findFirst();
    }

    /** Returns the narrowest format that holds every value of a checkpoint's type. */
    static WeightFormat keeping(DType checkpoint) {
        return checkpoint == DType.BF16 ? new Bf16Weights() : new Fp32Weights();
    }

    /** Returns the widest format that quantizes and takes less memory than this one, to suggest where memory is short. */
    default Optional<WeightFormat> narrower() {
        int inputs = 2 * QuantizedRows.GROUP; // whole words and groups of every format
        Comparator<WeightFormat> bySize = Comparator.comparingLong(format -> format.panelBytes(inputs));
        return all().stream()
                .filter(format -> format.scalesOutputs() || format.quantizesInputs())
                .filter(format -> bySize.compare(format, this) < 0)
                .max(bySize);
    }

    /** Returns the precision of matrices in this format. */
    Precision precision();

    /** Returns the name in memory plans. */
    default String label() {
        return precision().label();
    }

    /** Returns the format of token embedding and head in a model whose blocks have this one. */
    default WeightFormat ofHead() {
        return this;
    }

    /** Returns the number of inputs whose weights share a word. */
    int perWord();

    /** Returns the bytes of a panel of {@code inputs} inputs. */
    default long panelBytes(int inputs) {
        return Math.ceilDiv(inputs, perWord()) * (long) ROW_BYTES;
    }

    /** Returns the byte offset, from a panel's start, of the row of words that holds input {@code k}. */
    default long rowOf(int k) {
        return k / perWord() * (long) ROW_BYTES;
    }

    /** Returns whether an output has a scale that its sums are multiplied by. */
    default boolean scalesOutputs() {
        return false;
    }

    /** Returns whether matmuls read {@link QuantizedRows} instead of floats. */
    default boolean quantizesInputs() {
        return false;
    }

    /** Returns the weight of the word's input {@code which}, exactly, before it is scaled. */
    float decode(int word, int which);

    /** Decodes the weights of input {@code which} of {@code count} words to {@code target[from …]}. */
    default void decode(int[] words, int count, int which, float[] target, int from) {
        for (int i = 0; i < count; i++) {
            target[from + i] = decode(words[i], which);
        }
    }

    /** Returns the scale of the weights of a group of {@value QuantizedRows#GROUP} inputs, for one output. */
    default float groupScale(PackedMatrix matrix, int panel, int column, int group) {
        return 1;
    }

    /** Copies one output's weights, scaled, to {@code target[from … from + inputs)}. */
    default void output(PackedMatrix matrix, int output, float[] target, int from) {
        MemorySegment memory = matrix.memory();
        long column = matrix.panelStart(output / PackedMatrix.COLUMNS) + 4L * (output % PackedMatrix.COLUMNS);
        int perWord = perWord();
        for (int k = 0; k < matrix.inputs(); k++) {
            target[from + k] = decode(memory.get(ValueLayout.JAVA_INT, column + rowOf(k)), k % perWord);
        }
    }

    /** Returns a new packer with its own buffers. */
    Packer packer();
}
