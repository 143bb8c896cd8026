package io.roseinfer.sampling;

/** The tokens a request has so far, prompt first, as penalties need to see them. */
public interface TokenHistory {

    /** Tokens of the prompt. */
    int promptLength();

    /** Tokens of the prompt and the completion so far. */
    int length();

    /** The token at {@code 0 <= index < length()}. */
    int token(int index);
}
