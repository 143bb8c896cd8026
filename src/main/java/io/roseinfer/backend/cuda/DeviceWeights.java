package io.roseinfer.backend.cuda;

import java.util.List;

/**
 * Addresses of a model's weights on the device.
 *
 * @param tokens token embedding, row-major, [vocabulary, width]
 * @param tokenScales float, [vocabulary], of an int8 token embedding, else 0
 * @param positions position embedding, row-major, [context, width]; 0 without learned positions
 */
record DeviceWeights(long tokens, long tokenScales, long positions, List<Layer> layers, Projection head) {
    DeviceWeights {
        layers = List.copyOf(layers);
    }

    /** The weights of a block. */
    record Layer(Projection qkv, Heads heads, Projection attentionOutput, Projection mlpInner, Projection mlpOutput) {}

    /**
     * QK norm and RoPE of query and key heads, in packed order.
     *
     * @param normWeights float, [2, headPad], of queries and of keys; 0 without QK norm
     * @param ropeTable float, [context, headPad], cosine and sine of each pair; 0 without RoPE
     */
    record Heads(long normWeights, long ropeTable) {}

    /**
     * A matrix in panels, with the preceding norm folded in unless it is int8.
     *
     * @param panels the matrix, W'[n][k] = normWeight[k] · W[k][n]; int8: W'[n][k] = scale[n] · q[n][k]
     * @param bias float, b'[n] = bias[n] + Σ_k normBias[k] · W[k][n]; 0 if both are zero
     * @param columnTerms float: after a layer norm Σ_k W'[n][k], to subtract the mean, else zero; int8: the scales
     * @param normWeights float, [inputs], of the norm before an int8 matrix, applied by the kernel that writes its input; 0 if folded in
     *     or without a norm
     * @param outputs padded
     * @param inputs padded
     */
    record Projection(long panels, long bias, long columnTerms, long normWeights, int outputs, int inputs) {}
}
