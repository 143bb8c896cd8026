package io.roseinfer.tokenizer;

/** Splits words into their initial symbols. Immutable. */
sealed interface Symbols permits ByteSymbols, CodePointSymbols {
    /** The id of a symbol outside the vocabulary. */
    int MISSING = -1;

    /** Adds the symbols of {@code text[start .. end)}, whose surrogates are paired, to a merger's word. */
    void add(String text, int start, int end, BytePairMerger merger);

    /**
     * The replacement of symbols outside the vocabulary.
     *
     * @param id {@link #MISSING} if such symbols are dropped
     * @param fused whether consecutive ones become one
     */
    record Unknown(int id, boolean fused) {
        /** Drops such symbols. */
        public static final Unknown NONE = new Unknown(MISSING, false);

        void add(BytePairMerger merger) {
            if (id != MISSING) {
                merger.addUnknown(id, fused);
            }
        }
    }
}
