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
        public void apply(LogitConstraints.Target target) {}

        @Override
        public MaskSource restart() {
            return this;
        }
    };

    /** Returns whether a sample's mask depends on earlier tokens, which must be known then. */
    boolean needsTokens();

    /** Returns whether the next sample's mask has been computed. */
    boolean isReady();

    /** Appends a sampled token; another thread then computes the next mask. */
    void append(int token);

    /** Sets the next sample's mask, which does not change until {@link #append}; it must be ready. */
    void apply(LogitConstraints.Target target);

    /** Returns the masks of the same request from its first sample on. */
    MaskSource restart();
}
