package io.roseinfer.tokenizer;

import io.roseinfer.base.WorkCounter;
import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Unicode's Normalization Form C in linear time. The JDK's normalizer reorders marks one by one, which is quadratic in
 * a run of marks. Here it gets chunks with short runs only; long runs are sorted by class and composed separately.
 */
final class NormalizationFormC {
    /** The first character that normalization may change, or that may change the one before it. */
    private static final int FIRST_MARK = 0x300;

    /** Maximum length of a run for the JDK, in characters. */
    private static final int SHORT_RUN = 64;

    private static final int CHUNK = 4096;
    private static final int NONE = -1;

    private final WorkCounter work;
    private final Map<Integer, int[]> decompositions = new HashMap<>();
    private final Map<Long, Integer> composites = new HashMap<>();

    private NormalizationFormC(WorkCounter work) {
        this.work = work;
    }

    /** Returns the normalized text. */
    static String of(String text, WorkCounter work) {
        work.add(text.length());
        return text.chars().allMatch(c -> c < FIRST_MARK) ? text : new NormalizationFormC(work).normalized(text);
    }

    private String normalized(String text) {
        StringBuilder out = new StringBuilder(text.length());
        int done = 0;
        int start = 0;
        while (start < text.length()) {
            int end = runEnd(text, start);
            work.add(end - start);
            if (end - start > SHORT_RUN) {
                out.append(Normalizer.normalize(text.substring(done, start), Form.NFC));
                appendComposed(sorted(decomposed(text, start, end)), out);
                done = end;
            } else if (end - done >= CHUNK) {
                out.append(Normalizer.normalize(text.substring(done, end), Form.NFC));
                done = end;
            }
            start = end;
        }
        return out.append(Normalizer.normalize(text.substring(done), Form.NFC)).toString();
    }

    /** Returns the end of a run: a character and the following ones that may combine with it. */
    private static int runEnd(String text, int start) {
        int i = start + Character.charCount(text.codePointAt(start));
        while (i < text.length() && mayCombineBack(text.codePointAt(i))) {
            i += Character.charCount(text.codePointAt(i));
        }
        return i;
    }

    /** Returns whether a character may be reordered or combine with one before: marks, and some vowels and finals. */
    static boolean mayCombineBack(int codePoint) {
        return codePoint >= FIRST_MARK
                && (CombiningClasses.isMark(codePoint)
                        || (codePoint >= 0x1160 && codePoint < 0x1200)
                        || (codePoint >= 0x16d63 && codePoint < 0x16d6b));
    }

    private int[] decomposed(String text, int start, int end) {
        int[] points = new int[end - start];
        int size = 0;
        for (int i = start; i < end; i += Character.charCount(text.codePointAt(i))) {
            int[] parts = decompositions.computeIfAbsent(text.codePointAt(i), NormalizationFormC::decomposition);
            work.add(parts.length);
            if (size + parts.length > points.length) {
                points = Arrays.copyOf(points, 2 * points.length + parts.length);
            }
            System.arraycopy(parts, 0, points, size, parts.length);
            size += parts.length;
        }
        return Arrays.copyOf(points, size);
    }

    private static int[] decomposition(int codePoint) {
        return Normalizer.normalize(Character.toString(codePoint), Form.NFD)
                .codePoints()
                .toArray();
    }

    /** Returns the points with every sequence of marks sorted by class, in a stable order. */
    private int[] sorted(int[] points) {
        int[] sorted = points.clone();
        int from = 0;
        while (from < points.length) {
            int to = from;
            while (to < points.length && CombiningClasses.rank(points[to]) > 0) {
                to++;
            }
            if (to - from > 1) {
                sort(points, from, to, sorted);
            }
            from = to + 1;
        }
        return sorted;
    }

    private void sort(int[] points, int from, int to, int[] sorted) {
        work.add(to - from);
        int[] next = new int[CombiningClasses.COUNT + 1];
        for (int i = from; i < to; i++) {
            next[CombiningClasses.rank(points[i]) + 1]++;
        }
        next[0] = from;
        for (int rank = 1; rank < next.length; rank++) {
            next[rank] += next[rank - 1];
        }
        for (int i = from; i < to; i++) {
            sorted[next[CombiningClasses.rank(points[i])]++] = points[i];
        }
    }

    /** Composes each starter with the marks that are not blocked by another mark of the same or a higher class. */
    private void appendComposed(int[] points, StringBuilder out) {
        int size = 0;
        int starter = NONE;
        int rankBefore = 0;
        for (int point : points) {
            work.add(1);
            int rank = CombiningClasses.rank(point);
            boolean reaches = starter != NONE && (rankBefore == 0 || rankBefore < rank);
            int composite = reaches ? composite(points[starter], point) : NONE;
            if (composite != NONE) {
                points[starter] = composite;
            } else {
                starter = rank == 0 ? size : starter;
                rankBefore = rank;
                points[size++] = point;
            }
        }
        for (int i = 0; i < size; i++) {
            out.appendCodePoint(points[i]);
        }
    }

    private int composite(int first, int second) {
        return composites.computeIfAbsent((long) first << 32 | second, pair -> {
            String both = Character.toString(first) + Character.toString(second);
            int[] composed = Normalizer.normalize(both, Form.NFC).codePoints().toArray();
            return composed.length == 1 ? composed[0] : NONE;
        });
    }
}
