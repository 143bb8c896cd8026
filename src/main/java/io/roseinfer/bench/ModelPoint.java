package io.roseinfer.bench;

/** A step shape to measure. */
public sealed interface ModelPoint {
    /** Returns the rows of the step. */
    int rows();

    /** Returns the tokens computed per step, over all rows. */
    long tokensPerStep();

    /**
     * A step of whole prompts, starting from an empty KV cache; one token is sampled per row.
     *
     * @param tokens tokens per row
     */
    record Prefill(int rows, int tokens) implements ModelPoint {
        @Override
        public long tokensPerStep() {
            return (long) rows * tokens;
        }

        @Override
        public String toString() {
            return "prefill " + rows + "x" + tokens;
        }
    }

    /** A step with one token per row, the one sampled in the previous step. */
    record Decode(int rows) implements ModelPoint {
        @Override
        public long tokensPerStep() {
            return rows;
        }

        @Override
        public String toString() {
            return "decode " + rows;
        }
    }
}
