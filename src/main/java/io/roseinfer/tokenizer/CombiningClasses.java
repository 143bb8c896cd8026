package io.roseinfer.tokenizer;

import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.List;

/**
 * The order of Unicode's canonical combining classes, which the JDK does not expose; it is derived from the order into
 * which the JDK's normalizer puts two marks.
 */
final class CombiningClasses {
    /** Code points from here on have no class. */
    private static final int END = 0x20000;

    private static final byte[] RANKS = new byte[END];

    /** One more than the highest rank. */
    static final int COUNT;

    static {
        List<Integer> marks = new ArrayList<>();
        for (int c = 0; c < END; c++) {
            if (isMark(c) && hasClass(c)) {
                marks.add(c);
            }
        }
        marks.sort(CombiningClasses::compare);
        byte rank = 0;
        for (int i = 0; i < marks.size(); i++) {
            if (i == 0 || compare(marks.get(i - 1), marks.get(i)) < 0) {
                rank++;
            }
            RANKS[marks.get(i)] = rank;
        }
        COUNT = rank + 1;
    }

    private CombiningClasses() {}

    /** Returns a number that orders fully decomposed code points by class; 0 if the code point has class 0, a starter. */
    static int rank(int codePoint) {
        return codePoint < END ? RANKS[codePoint] : 0;
    }

    /** Returns whether the code point is a mark; no other has a class. */
    static boolean isMark(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.COMBINING_SPACING_MARK -> true;
            default -> false;
        };
    }

    /** Returns whether a decomposed mark swaps places with one of the lowest or of the highest class. */
    private static boolean hasClass(int mark) {
        return Normalizer.isNormalized(Character.toString(mark), Form.NFD) && (swap(mark, 0x334) || swap(0x345, mark));
    }

    private static int compare(int a, int b) {
        return swap(a, b) ? 1 : swap(b, a) ? -1 : 0;
    }

    private static boolean swap(int first, int second) {
        return !Normalizer.isNormalized(Character.toString(first) + Character.toString(second), Form.NFD);
    }
}
