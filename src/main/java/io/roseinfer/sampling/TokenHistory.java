package io.roseinfer.sampling;

/** The tokens a request has so far, prompt first, as penalties need to see them. */
public interface TokenHistory {
    /** The history of a request without penalties, whose tokens nobody looks at. */
    TokenHistory NONE = new TokenHistory() {
        @Override
        public int promptLength() {
            return 0;
        }

        @Override
        public int length() {
            return 0;
        }

        @Override
        public int token(int index) {
            throw new IndexOutOfBoundsException(index);
        }
    };

    /** Tokens of the prompt. */
    int promptLength();

    /** Tokens of the prompt and the completion so far. */
    int length();

    /** The token at {@code 0 <= index < length()}. */
    int token(int index);
}
