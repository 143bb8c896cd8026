package io.roseinfer.base;

/** Limits on external input. Exceeding one is reported with a message, never a crash. */
public final class Limits {
    private Limits() {}

    /** Maximum size of a safetensors header, as in the reference implementation. */
    public static final int SAFETENSORS_HEADER_BYTES = 100_000_000;

    /** Maximum tensors in a checkpoint; GPT-2 XL has 580. */
    public static final int CHECKPOINT_TENSORS = 200_000;

    /** Maximum layers of a model; GPT-2 XL has 48. */
    public static final int MODEL_LAYERS = CHECKPOINT_TENSORS / 12;

    /** Maximum nesting of a JSON document. */
    public static final int JSON_DEPTH = 128;

    /** Maximum size of a configuration or index file. */
    public static final int CONFIG_BYTES = 64 << 20;

    /**
     * Maximum size of a downloaded weight file. GPT-2 XL has 6.4 GB, and the Hugging Face Hub advises against more than
     * 50 GB.
     */
    public static final long WEIGHTS_FILE_BYTES = 64L << 30;

    /** Maximum prompt length passed to a tokenizer, in UTF-16 code units. */
    public static final int PROMPT_CHARS = 16 << 20;

    /** Maximum vocabulary size, context length, width and so on in a configuration. */
    public static final int MODEL_DIMENSION = 1 << 24;
}
