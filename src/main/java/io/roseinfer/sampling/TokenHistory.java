package io.roseinfer.sampling;

/** The tokens of a request up to a point, prompt first, as input of penalties. */
public interface TokenHistory {
    /** The history of a request without penalties, which is never read. */
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

    /** Returns the number of prompt tokens. */
    int promptLength();

    /** Returns the number of tokens of the prompt and the completion so far. */
    int length();

    /** Returns the token at {@code 0 <= index < length()}. */
    int token(int index);
}
