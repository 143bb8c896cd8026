package io.roseinfer.backend;

/** The parts of a step that a device can time, in the order in which a layer, and then the head, runs them. */
public enum Operator {
    /** From submitting the step until its first operator begins. */
    START,
    /** Token and position embeddings. */
    EMBEDDING,
    /** The norms of the blocks, and putting the rows into the tiles that products read. */
    NORM,
    /** Queries, keys and values. */
    QKV,
    /** Appending keys and values, scores, softmax and the weighted sum. */
    ATTENTION,
    /** Rounding what attention and the MLP's first product made to the 8 bits that 4-bit weights are multiplied by. */
    QUANTIZE,
    /** The product that joins the heads. */
    ATTENTION_OUTPUT,
    /** The MLP's first product and its activation. */
    MLP_INNER,
    /** The MLP's second product. */
    MLP_OUTPUT,
    /** Collecting the tokens that are sampled from. */
    GATHER,
    /** The layer norm before the head. */
    FINAL_NORM,
    /** The product with the vocabulary. */
    LOGITS,
    /** From logits to tokens. */
    SAMPLING,
    /** Workers waiting for each other between operators. */
    WAITING
}
