package io.roseinfer.base;

/** The numbers that bound what is read from outside, in one place. Each is a refusal with a message, never a crash. */
public final class Limits {
    private Limits() {}

    /** Largest safetensors header in bytes, the reference reader's own limit. */
    public static final int SAFETENSORS_HEADER_BYTES = 100_000_000;

    /** Most tensors in one checkpoint; GPT-2 XL has 580. */
    public static final int CHECKPOINT_TENSORS = 200_000;

    /** Most blocks of a model; GPT-2 XL has 48. */
    public static final int MODEL_LAYERS = CHECKPOINT_TENSORS / 12;

    /** Deepest nesting of any JSON document. */
    public static final int JSON_DEPTH = 128;

    /** Largest configuration or index file in bytes. */
    public static final int CONFIG_BYTES = 64 << 20;

    /** Largest file of weights that is downloaded, in bytes; GPT-2 XL has 6.4 GB, and the hub advises against more than 50 GB. */
    public static final long WEIGHTS_FILE_BYTES = 64L << 30;

    /** Longest prompt in UTF-16 units that is handed to a tokenizer. */
    public static final int PROMPT_CHARS = 16 << 20;

    /** Largest vocabulary, context, width and so on that a configuration may ask for. */
    public static final int MODEL_DIMENSION = 1 << 24;
}
