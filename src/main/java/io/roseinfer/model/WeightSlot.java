package io.roseinfer.model;

import io.roseinfer.tensor.Tensor;

/**
 * The tensors of a GPT-2 checkpoint. Matrices of the blocks are Conv1D weights, stored [in, out]: y = x·W + b. Embeddings are
 * [rows, width].
 */
public enum WeightSlot {
    TOKEN_EMBEDDING("wte.weight"),
    POSITION_EMBEDDING("wpe.weight"),
    ATTENTION_NORM_GAIN("h.%d.ln_1.weight"),
    ATTENTION_NORM_BIAS("h.%d.ln_1.bias"),
    /** Queries, keys and values side by side: [width, 3·width]. */
    QKV("h.%d.attn.c_attn.weight"),
    QKV_BIAS("h.%d.attn.c_attn.bias"),
    ATTENTION_OUTPUT("h.%d.attn.c_proj.weight"),
    ATTENTION_OUTPUT_BIAS("h.%d.attn.c_proj.bias"),
    MLP_NORM_GAIN("h.%d.ln_2.weight"),
    MLP_NORM_BIAS("h.%d.ln_2.bias"),
    MLP_INNER("h.%d.mlp.c_fc.weight"),
    MLP_INNER_BIAS("h.%d.mlp.c_fc.bias"),
    MLP_OUTPUT("h.%d.mlp.c_proj.weight"),
    MLP_OUTPUT_BIAS("h.%d.mlp.c_proj.bias"),
    FINAL_NORM_GAIN("ln_f.weight"),
    FINAL_NORM_BIAS("ln_f.bias"),
    /** The output matrix, [vocabulary, width]; the token embedding itself when the head is tied. */
    HEAD("lm_head.weight");

    private final String pattern;

    WeightSlot(String pattern) {
        this.pattern = pattern;
    }

    /** Whether there is one per block. */
    public boolean perLayer() {
        return pattern.contains("%d");
    }

    /** Whether activations are multiplied by it, so that it is held in the precision asked for. */
    boolean isMatrix() {
        return switch (this) {
            case TOKEN_EMBEDDING, HEAD, QKV, ATTENTION_OUTPUT, MLP_INNER, MLP_OUTPUT -> true;
            default -> false;
        };
    }

    /** The tensor's name without the {@code transformer.} prefix; {@code layer} is ignored where there is only one. */
    public String tensorName(int layer) {
        return pattern.replace("%d", Integer.toString(layer));
    }

    /** The shape a model of this spec must have in this slot. */
    public long[] shape(ModelSpec spec) {
        long width = spec.width();
        long inner = spec.innerWidth();
        return switch (this) {
            case TOKEN_EMBEDDING, HEAD -> new long[] {spec.vocabularySize(), width};
            case POSITION_EMBEDDING -> new long[] {spec.contextLength(), width};
            case QKV -> new long[] {width, 3 * width};
            case QKV_BIAS -> new long[] {3 * width};
            case ATTENTION_OUTPUT -> new long[] {width, width};
            case MLP_INNER -> new long[] {width, inner};
            case MLP_INNER_BIAS -> new long[] {inner};
            case MLP_OUTPUT -> new long[] {inner, width};
            default -> new long[] {width};
        };
    }

    long elements(ModelSpec spec) {
        return Tensor.elementCount(shape(spec));
    }
}
