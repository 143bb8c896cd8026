package io.roseinfer.model;

import io.roseinfer.model.Matrix.Layout;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.List;

/** A matrix whose tensors can be read, by any number of threads at once, each with its own {@link Buffer}. */
public final class OpenMatrix {
    /** Outputs transposed together: their floats fill a cache line of the target. */
    private static final int ROWS = 16;

    /** Inputs transposed together, which with {@link #ROWS} outputs fit in the L1 cache. */
    private static final int INPUTS = 256;

    private final Matrix matrix;
    private final List<Tensor> tensors;

    OpenMatrix(Matrix matrix, Arena arena) {
        this.matrix = matrix;
        this.tensors =
                matrix.parts().stream().map(part -> part.tensor().read(arena)).toList();
    }

    /**
     * Copies the weights of some outputs, converted to float: the weight of input k and output {@code from + c} goes to
     * {@code target[k·stride + c]}.
     */
    public void copyTo(int from, int count, float[] target, int stride, Buffer buffer) {
        int start = 0;
        for (int i = 0; i < tensors.size(); i++) {
            Outputs part = matrix.parts().get(i);
            int end = Math.min(from + count, start + part.count());
            int output = Math.max(from, start);
            while (output < end) {
                int together = Math.min(part.together(output - start), end - output);
                int stored = part.stored(output - start);
                if (matrix.layout() == Layout.OUT_IN) {
                    transpose(tensors.get(i), stored, together, target, output - from, stride, buffer);
                } else {
                    gather(tensors.get(i), stored, together, target, output - from, stride, buffer);
                }
                output += together;
            }
            start += part.count();
        }
    }

    /** Copies all weights, converted to float, as [outputs, inputs]. */
    public void copyRows(float[] target) {
        int at = 0;
        for (int i = 0; i < tensors.size(); i++) {
            Outputs part = matrix.parts().get(i);
            for (int output = 0; output < part.count(); output++) {
                copyRow(tensors.get(i), part.stored(output), target, at);
                at += matrix.inputs();
            }
        }
    }

    private void copyRow(Tensor tensor, int stored, float[] target, int at) {
        int inputs = matrix.inputs();
        if (matrix.layout() == Layout.OUT_IN) {
            tensor.copyTo((long) stored * inputs, target, at, inputs);
            return;
        }
        for (int k = 0; k < inputs; k++) {
            target[at + k] = tensor.get(k * tensor.dimension(1) + stored);
        }
    }

    private void gather(Tensor tensor, int stored, int count, float[] target, int column, int stride, Buffer buffer) {
        long outputs = tensor.dimension(1);
        for (int c = 0; c < count; c += INPUTS) {
            int together = Math.min(INPUTS, count - c);
            for (int k = 0; k < matrix.inputs(); k++) {
                tensor.copyTo(k * outputs + stored + c, target, k * stride + column + c, together, buffer.bits);
            }
        }
    }

    private void transpose(
            Tensor tensor, int stored, int count, float[] target, int column, int stride, Buffer buffer) {
        int inputs = matrix.inputs();
        for (int c = 0; c < count; c += ROWS) {
            int rows = Math.min(ROWS, count - c);
            for (int k = 0; k < inputs; k += INPUTS) {
                int length = Math.min(INPUTS, inputs - k);
                for (int row = 0; row < rows; row++) {
                    long from = ((long) stored + c + row) * inputs + k;
                    tensor.copyTo(from, buffer.rows, row * INPUTS, length, buffer.bits);
                }
                transpose(buffer.rows, rows, length, target, k * stride + column + c, stride);
            }
        }
    }

    /** Writes {@code rows} rows of {@code length} floats as columns. */
    private static void transpose(float[] source, int rows, int length, float[] target, int at, int stride) {
        for (int k = 0; k < length; k++) {
            for (int row = 0; row < rows; row++) {
                target[at + k * stride + row] = source[row * INPUTS + k];
            }
        }
    }

    /** A thread's buffer, reused so that loading a large model creates no garbage. */
    public static final class Buffer {
        private final short[] bits = new short[INPUTS];
        private final float[] rows = new float[ROWS * INPUTS];
    }
}
