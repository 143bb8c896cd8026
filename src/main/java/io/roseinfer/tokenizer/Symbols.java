package io.roseinfer.tokenizer;

/** What a word consists of before any merge. Immutable. */
sealed interface Symbols permits ByteSymbols, CodePointSymbols {
    /** The id of a symbol that the vocabulary does not have. */
    int MISSING = -1;

    /** Adds the symbols of {@code text[start .. end)}, whose surrogates are paired, to a merger's word. */
    void add(String text, int start, int end, BytePairMerger merger);

    /**
     * The stand-in for a symbol that the vocabulary does not have.
     *
     * @param id {@link #MISSING} if there is none: then such a symbol is nothing
     * @param fused whether neighbours become one
     */
    record Unknown(int id, boolean fused) {
        /** No stand-in. */
        public static final Unknown NONE = new Unknown(MISSING, false);

        void add(BytePairMerger merger) {
            if (id != MISSING) {
                merger.addUnknown(id, fused);
            }
        }
    }
}
