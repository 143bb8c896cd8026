package io.roseinfer.backend.cuda;

import java.util.List;

/**
 * A model's weights on the device, by address.
 *
 * @param tokens token embedding, row-major, [vocabulary, width]
 * @param tokenScales float, [vocabulary], of a token embedding in bytes; 0 if it is in another type
 * @param positions position embedding, row-major, [context, width]; 0 if the model learns no positions
 */
record DeviceWeights(long tokens, long tokenScales, long positions, List<Layer> layers, Projection head) {
    DeviceWeights {
        layers = List.copyOf(layers);
    }

    /** The four matrices of a block. */
    record Layer(Projection qkv, Heads heads, Projection attentionOutput, Projection mlpInner, Projection mlpOutput) {}

    /**
     * What is done to the heads of queries and keys, in the order in which they are packed.
     *
     * @param normWeights float, [2, headPad], of the norms over queries and over keys; 0 if there are none
     * @param ropeTable float, [context, headPad], cosine and sine of each pair; 0 if nothing turns
     */
    record Heads(long normWeights, long ropeTable) {}

    /**
     * A matrix in panels, with the norm before it folded in unless it is of bytes.
     *
     * @param panels the matrix, W'[n][k] = gain[k] · W[k][n]; of bytes, W'[n][k] = scale[n] · q[n][k]
     * @param bias float, b'[n] = bias[n] + Σ_k normBias[k] · W[k][n]
     * @param columnTerms float: Σ_k W'[n][k] behind a layer norm, whose mean they take off, zero behind any other; of bytes, the
     *     scales
     * @param normWeights float, [inputs], of the norm before a matrix of bytes, for whoever writes what the matrix reads; 0 if they are
     *     folded in or there is no norm
     * @param outputs padded
     * @param inputs padded
     */
    record Projection(long panels, long bias, long columnTerms, long normWeights, int outputs, int inputs) {}
}
