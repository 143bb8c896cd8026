package io.roseinfer.tokenizer;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;

/**
 * One symbol per code point, as in SentencePiece's BPE. A code point outside the vocabulary becomes a symbol per byte
 * of its UTF-8 if there are tokens for them, else the unknown symbol.
 */
final class CodePointSymbols implements Symbols {
    private static final int PAGE = 256;

    /** Ids by code point, {@value #PAGE} per page; most pages share one empty array. */
    private final int[][] pages = new int[(Character.MAX_CODE_POINT + 1) / PAGE][];

    private final int[] byteIds;
    private final Unknown unknown;

    /**
     * Creates the symbols of a vocabulary.
     *
     * @param ids by code point
     * @param byteIds the ids of the bytes, {@link Symbols#MISSING} for bytes without a token
     */
    public CodePointSymbols(Map<Integer, Integer> ids, int[] byteIds, Unknown unknown) {
        this.byteIds = byteIds.clone();
        this.unknown = unknown;
        Arrays.fill(pages, emptyPage());
        BitSet filled = new BitSet();
        ids.forEach((codePoint, id) -> {
            int page = codePoint / PAGE;
            if (!filled.get(page)) {
                filled.set(page);
                pages[page] = emptyPage();
            }
            pages[page][codePoint % PAGE] = id;
        });
    }

    private static int[] emptyPage() {
        int[] page = new int[PAGE];
        Arrays.fill(page, MISSING);
        return page;
    }

    @Override
    public void add(String text, int start, int end, BytePairMerger merger) {
        int i = start;
        while (i < end) {
            int codePoint = text.codePointAt(i);
            i += Character.charCount(codePoint);
            int id = pages[codePoint / PAGE][codePoint % PAGE];
            if (id != MISSING) {
                merger.add(id);
            } else if (!addBytes(codePoint, merger)) {
                unknown.add(merger);
            }
        }
    }

    /** Adds the bytes of a code point's UTF-8, all or none. */
    private boolean addBytes(int codePoint, BytePairMerger merger) {
        int length = codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
        for (int i = 0; i < length; i++) {
            if (byteIds[utf8(codePoint, length, i)] == MISSING) {
                return false;
            }
        }
        for (int i = 0; i < length; i++) {
            merger.addByte(byteIds[utf8(codePoint, length, i)]);
        }
        return true;
    }

    /** Returns byte {@code i} of a code point's UTF-8, which has {@code length} bytes. */
    private static int utf8(int codePoint, int length, int i) {
        if (length == 1) {
            return codePoint;
        }
        int bits = codePoint >> (6 * (length - 1 - i));
        // The lead byte begins with as many ones as there are bytes, and a zero.
        return i == 0 ? ((0xf00 >> length) & 0xff) | bits : 0x80 | (bits & 0x3f);
    }
}
