package io.roseinfer.backend;

/** The operators of a step that a device can time, in execution order. */
public enum Operator {
    /** From submission until the first operator begins. */
    START,
    /** Token and position embeddings. */
    EMBEDDING,
    /** Norms of the blocks, and tiling their output. */
    NORM,
    /** QKV projection. */
    QKV,
    /** QK norm, RoPE, KV append and attention. */
    ATTENTION,
    /** Quantizing activations to 8 bits for int4 weights. */
    QUANTIZE,
    /** Attention output projection. */
    ATTENTION_OUTPUT,
    /** The MLP's first projection and activation. */
    MLP_INNER,
    /** The MLP's down projection. */
    MLP_OUTPUT,
    /** Gathering the rows to sample. */
    GATHER,
    /** The norm before the LM head. */
    FINAL_NORM,
    /** LM head. */
    LOGITS,
    /** Sampling. */
    SAMPLING,
    /** Barriers between operators. */
    WAITING
}
