package io.roseinfer.model;

import io.roseinfer.model.Matrix.Layout;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.List;

/** A matrix whose tensors can be read, by any number of threads at once. */
public final class OpenMatrix {
    private final Matrix matrix;
    private final List<Tensor> tensors;

    OpenMatrix(Matrix matrix, Arena arena) {
        this.matrix = matrix;
        this.tensors =
                matrix.parts().stream().map(part -> part.tensor().read(arena)).toList();
    }

    /**
     * Copies the weights of some outputs, widened to float: that of input k and output {@code from + c} to
     * {@code target[k·stride + c]}.
     */
    public void copyTo(int from, int count, float[] target, int stride) {
        float[] row = new float[matrix.layout() == Layout.OUT_IN ? matrix.inputs() : 0];
        int start = 0;
        for (int i = 0; i < tensors.size(); i++) {
            Outputs part = matrix.parts().get(i);
            int end = Math.min(from + count, start + part.count());
            int output = Math.max(from, start);
            while (output < end) {
                int together = Math.min(part.together(output - start), end - output);
                int stored = part.stored(output - start);
                if (matrix.layout() == Layout.OUT_IN) {
                    transpose(tensors.get(i), stored, together, target, output - from, stride, row);
                } else {
                    gather(tensors.get(i), stored, together, target, output - from, stride);
                }
                output += together;
            }
            start += part.count();
        }
    }

    /** Copies all weights, widened to float, one output after another: [outputs, inputs]. */
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

    private void gather(Tensor tensor, int stored, int count, float[] target, int column, int stride) {
        long outputs = tensor.dimension(1);
        for (int k = 0; k < matrix.inputs(); k++) {
            tensor.copyTo(k * outputs + stored, target, k * stride + column, count);
        }
    }

    private void transpose(Tensor tensor, int stored, int count, float[] target, int column, int stride, float[] row) {
        int inputs = matrix.inputs();
        for (int c = 0; c < count; c++) {
            tensor.copyTo(((long) stored + c) * inputs, row, 0, inputs);
            for (int k = 0; k < inputs; k++) {
                target[k * stride + column + c] = row[k];
            }
        }
    }
}
