package io.roseinfer.tokenizer.chat.reply;

/** The marks of a model's reasoning before its answer, under vLLM's names. */
public enum ReasoningFormat {
    /** Reasoning is not parsed. */
    NONE,
    /** {@code <think>} and {@code </think>}; a reply without the former has no reasoning, unless the prompt has it. */
    QWEN3,
    /** {@code </think>} after the reasoning, which begins with the reply, with or without {@code <think>}. */
    DEEPSEEK_R1;

    /** The values of a flag. */
    public static final String LABEL = "<none|qwen3|deepseek_r1>";

    static final String BEGIN = "<think>";
    static final String END = "</think>";

    /**
     * Returns whether a reply begins with reasoning, or in it.
     *
     * @param prompt the rendered prompt
     */
    boolean beginsAfter(String prompt) {
        boolean open = prompt.lastIndexOf(BEGIN) > prompt.lastIndexOf(END)
                && prompt.stripTrailing().endsWith(BEGIN);
        boolean done = prompt.stripTrailing().endsWith(END);
        return switch (this) {
            case NONE -> false;
            case QWEN3 -> open;
            case DEEPSEEK_R1 -> !done;
        };
    }
}
