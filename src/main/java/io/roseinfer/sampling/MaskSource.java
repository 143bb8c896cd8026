package io.roseinfer.sampling;

/**
 * Masks of a request's samples that follow its tokens and are computed by another thread. The engine's thread calls all
 * methods, for one sample after the other.
 */
public interface MaskSource {
    /** Allows all tokens. */
    MaskSource NONE = new MaskSource() {
        @Override
        public boolean needsTokens() {
            return false;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void append(int token) {}

        @Override
        public int likelyTokens(int max, int[] into) {
            return 0;
        }

        @Override
        public void apply(int ahead, LogitConstraints.Target target) {}
    };

    /** Returns whether a sample's mask depends on earlier tokens, which must be known then. */
    boolean needsTokens();

    /** Returns whether the next sample's mask has been computed. */
    boolean isReady();

    /** Appends a sampled token; another thread then computes the next mask, unless it is ready. */
    void append(int token);

    /**
     * Finds tokens that are likely to be next, because the text there is fixed. Where a mask allows only one, it is next for certain.
     *
     * @param max maximum tokens to find
     * @param into receives the tokens
     * @return their number; 0 if the next mask is not ready
     */
    int likelyTokens(int max, int[] into);

    /**
     * Sets the mask of the next sample, or of one after likely tokens; the next one must be ready. It does not change until its sample is
     * appended.
     *
     * @param ahead the number of likely tokens before the sample, which are next if the sample counts
     */
    void apply(int ahead, LogitConstraints.Target target);
}
