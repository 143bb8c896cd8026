package io.roseinfer.model;

import java.util.List;

/**
 * The shape and the constants of a GPT-2 style model: everything a forward pass needs to know besides the weights.
 *
 * @param name what reports call the model
 * @param vocabularySize rows of the token embedding, and the width of the logits
 * @param contextLength most tokens a sequence may have, prompt and completion together
 * @param width size of the residual stream, {@code n_embd}
 * @param layers number of transformer blocks
 * @param heads attention heads; divides {@code width}
 * @param innerWidth width between the two MLP matrices, {@code n_inner}
 * @param activation the MLP's nonlinearity
 * @param layerNormEpsilon added to the variance under the root
 * @param scaleAttention whether scores are divided by √headSize
 * @param scaleAttentionByLayer whether scores are also divided by the layer's number, counted from one
 * @param tiedHead whether the token embedding is also the output matrix
 * @param endOfText ids that end a completion, each below {@code vocabularySize}; may be empty
 */
public record ModelSpec(
        String name,
        int vocabularySize,
        int contextLength,
        int width,
        int layers,
        int heads,
        int innerWidth,
        Activation activation,
        float layerNormEpsilon,
        boolean scaleAttention,
        boolean scaleAttentionByLayer,
        boolean tiedHead,
        List<Integer> endOfText) {

    public ModelSpec {
        endOfText = List.copyOf(endOfText);
    }

    /** Width of one attention head. */
    public int headSize() {
        return width / heads;
    }

    /** What the scores of a layer (counted from zero) are multiplied by before the softmax. */
    public float attentionScale(int layer) {
        double scale = scaleAttention ? 1.0 / Math.sqrt(headSize()) : 1.0;
        return (float) (scaleAttentionByLayer ? scale / (layer + 1) : scale);
    }

    /** The same model with other ids that end a completion. */
    public ModelSpec withEndOfText(List<Integer> ids) {
        return with(tiedHead, ids);
    }

    /** The same model with the token embedding as its output matrix, or with one of its own. */
    ModelSpec withTiedHead(boolean tied) {
        return with(tied, endOfText);
    }

    private ModelSpec with(boolean tied, List<Integer> ids) {
        return new ModelSpec(
                name,
                vocabularySize,
                contextLength,
                width,
                layers,
                heads,
                innerWidth,
                activation,
                layerNormEpsilon,
                scaleAttention,
                scaleAttentionByLayer,
                tied,
                ids);
    }

    /** Number of weights, the tied matrix counted once. */
    public long parameters() {
        long total = 0;
        for (WeightSlot slot : WeightSlot.values()) {
            if (slot != WeightSlot.HEAD || !tiedHead) {
                total += slot.elements(this) * (slot.perLayer() ? layers : 1);
            }
        }
        return total;
    }
}
