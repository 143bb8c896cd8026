package io.roseinfer.backend.cuda;

import java.util.List;

/**
 * A model's weights on the device, by address.
 *
 * @param tokens token embedding, row-major, [vocabulary, width]
 * @param positions position embedding, row-major, [context, width]
 */
record DeviceWeights(long tokens, long positions, List<Layer> layers, Projection head) {
    DeviceWeights {
        layers = List.copyOf(layers);
    }

    /** The four matrices of a block. */
    record Layer(Projection qkv, Projection attentionOutput, Projection mlpInner, Projection mlpOutput) {}

    /**
     * A matrix in panels with the layer norm before it folded in.
     *
     * @param panels the matrix, W'[n][k] = gain[k] · W[k][n]
     * @param bias float, b'[n] = bias[n] + Σ_k normBias[k] · W[k][n]
     * @param columnSums float, Σ_k W'[n][k]
     * @param outputs padded
     * @param inputs padded
     */
    record Projection(long panels, long bias, long columnSums, int outputs, int inputs) {}
}
