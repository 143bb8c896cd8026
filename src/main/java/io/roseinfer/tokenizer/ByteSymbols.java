package io.roseinfer.tokenizer;

/** One symbol per byte of the text's UTF-8, as in byte-level BPE. */
final class ByteSymbols implements Symbols {
    private final int[] ids;
    private final Unknown unknown;

    /**
     * Creates the symbols of a vocabulary.
     *
     * @param ids by byte, {@link ByteAlphabet#SIZE} of them, {@link Symbols#MISSING} for bytes without a token
     */
    public ByteSymbols(int[] ids, Unknown unknown) {
        this.ids = ids.clone();
        this.unknown = unknown;
    }

    @Override
    public void add(String text, int start, int end, BytePairMerger merger) {
        int i = start;
        while (i < end) {
            int codePoint = text.codePointAt(i);
            i += Character.charCount(codePoint);
            if (codePoint < 0x80) {
                add(codePoint, merger);
                continue;
            }
            if (codePoint < 0x800) {
                add(0xc0 | codePoint >> 6, merger);
            } else {
                if (codePoint < 0x10000) {
                    add(0xe0 | codePoint >> 12, merger);
                } else {
                    add(0xf0 | codePoint >> 18, merger);
                    add(0x80 | (codePoint >> 12 & 0x3f), merger);
                }
                add(0x80 | (codePoint >> 6 & 0x3f), merger);
            }
            add(0x80 | (codePoint & 0x3f), merger);
        }
    }

    private void add(int unsignedByte, BytePairMerger merger) {
        int id = ids[unsignedByte];
        if (id == MISSING) {
            unknown.add(merger);
        } else {
            merger.add(id);
        }
    }
}
