package io.roseinfer.bench;

/** A kind of step whose time is asked for. */
public sealed interface ModelPoint {
    /** Rows of the step. */
    int rows();

    /** Tokens that one step computes, all rows together. */
    long tokensPerStep();

    /**
     * Whole prompts in one step, from an empty KV cache; a token is sampled from the last position of each.
     *
     * @param tokens tokens of every row
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

    /** One new token for every row: what its step before has sampled. */
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
