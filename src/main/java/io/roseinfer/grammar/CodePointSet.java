package io.roseinfer.grammar;

import java.util.Arrays;

/**
 * An immutable set of Unicode scalar values: code points without surrogates, which UTF-8 cannot encode. Thread-safe.
 *
 * <p>Sets are equal if they have the same elements.
 */
public final class CodePointSet {
    /** The empty set. */
    public static final CodePointSet NONE = new CodePointSet(new int[0]);

    /** All Unicode scalar values. */
    public static final CodePointSet ALL =
            new CodePointSet(new int[] {0, Character.MIN_SURROGATE - 1, Character.MAX_SURROGATE + 1, 0x10FFFF});

    /** First and last code point of each range, ascending, neither overlapping nor adjacent. */
    private final int[] ranges;

    private CodePointSet(int[] ranges) {
        this.ranges = ranges;
    }

    /** Returns the set of one code point; empty for a surrogate. */
    public static CodePointSet of(int codePoint) {
        return range(codePoint, codePoint);
    }

    /** Returns the set of the code points of a text. */
    public static CodePointSet of(String characters) {
        int[] points = characters.codePoints().toArray();
        int[] pairs = new int[2 * points.length];
        for (int i = 0; i < points.length; i++) {
            pairs[2 * i] = points[i];
            pairs[2 * i + 1] = points[i];
        }
        return ofRanges(pairs);
    }

    /**
     * Returns the code points from {@code first} to {@code last}, both included, without surrogates.
     *
     * @throws IllegalArgumentException unless {@code 0 <= first <= last <= 0x10FFFF}
     */
    public static CodePointSet range(int first, int last) {
        boolean plain = 0 <= first && first <= last && last < Character.MIN_SURROGATE;
        return plain ? new CodePointSet(new int[] {first, last}) : ofRanges(first, last);
    }

    /**
     * Returns the union of ranges, without surrogates.
     *
     * @param pairs first and last code point of each range, in any order; ranges may overlap
     * @throws IllegalArgumentException if the number of values is odd or a range is not within 0..0x10FFFF
     */
    public static CodePointSet ofRanges(int... pairs) {
        if (pairs.length % 2 != 0) {
            throw new IllegalArgumentException(pairs.length + " values do not form pairs");
        }
        long[] sorted = new long[pairs.length / 2];
        for (int i = 0; i < sorted.length; i++) {
            int first = pairs[2 * i];
            int last = pairs[2 * i + 1];
            if (first < 0 || first > last || last > Character.MAX_CODE_POINT) {
                throw new IllegalArgumentException("range " + first + ".." + last + " is not within 0..0x10FFFF");
            }
            sorted[i] = (long) first << 32 | last;
        }
        Arrays.sort(sorted);
        int[] merged = new int[pairs.length];
        int size = 0;
        for (long pair : sorted) {
            int first = (int) (pair >>> 32);
            int last = (int) pair;
            if (size > 0 && first <= merged[size - 1] + 1) {
                merged[size - 1] = Math.max(merged[size - 1], last);
            } else {
                merged[size++] = first;
                merged[size++] = last;
            }
        }
        return intersect(Arrays.copyOf(merged, size), ALL.ranges);
    }

    /** Returns the elements of either set. */
    public CodePointSet union(CodePointSet other) {
        int[] both = Arrays.copyOf(ranges, ranges.length + other.ranges.length);
        System.arraycopy(other.ranges, 0, both, ranges.length, other.ranges.length);
        return ofRanges(both);
    }

    /** Returns the common elements. */
    public CodePointSet intersection(CodePointSet other) {
        return intersect(ranges, other.ranges);
    }

    /** Returns the elements of this set that are not in the other. */
    public CodePointSet minus(CodePointSet other) {
        return intersection(other.complement());
    }

    /** Returns all Unicode scalar values that are not in this set. */
    public CodePointSet complement() {
        int[] gaps = new int[ranges.length + 2];
        int size = 0;
        int next = 0;
        for (int i = 0; i < ranges.length; i += 2) {
            if (next < ranges[i]) {
                gaps[size++] = next;
                gaps[size++] = ranges[i] - 1;
            }
            next = ranges[i + 1] + 1;
        }
        if (next <= Character.MAX_CODE_POINT) {
            gaps[size++] = next;
            gaps[size++] = Character.MAX_CODE_POINT;
        }
        return intersect(Arrays.copyOf(gaps, size), ALL.ranges);
    }

    private static CodePointSet intersect(int[] left, int[] right) {
        int[] common = new int[left.length + right.length];
        int size = 0;
        int i = 0;
        int j = 0;
        while (i < left.length && j < right.length) {
            int first = Math.max(left[i], right[j]);
            int last = Math.min(left[i + 1], right[j + 1]);
            if (first <= last) {
                common[size++] = first;
                common[size++] = last;
            }
            if (left[i + 1] < right[j + 1]) {
                i += 2;
            } else {
                j += 2;
            }
        }
        return new CodePointSet(Arrays.copyOf(common, size));
    }

    /** Returns whether the code point is an element. */
    public boolean contains(int codePoint) {
        int low = 0;
        int high = ranges.length / 2 - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (codePoint < ranges[2 * middle]) {
                high = middle - 1;
            } else if (codePoint > ranges[2 * middle + 1]) {
                low = middle + 1;
            } else {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the set has no elements. */
    public boolean isEmpty() {
        return ranges.length == 0;
    }

    /** Returns the number of ranges of consecutive code points. */
    public int rangeCount() {
        return ranges.length / 2;
    }

    /** Returns the first code point of a range; ranges are ascending. */
    public int first(int range) {
        return ranges[2 * range];
    }

    /** Returns the last code point of a range. */
    public int last(int range) {
        return ranges[2 * range + 1];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CodePointSet set && Arrays.equals(ranges, set.ranges);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(ranges);
    }

    /** Returns the ranges in hexadecimal, for example {@code [30-39 5f]}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < ranges.length; i += 2) {
            text.append(i == 0 ? "" : " ").append(Integer.toHexString(ranges[i]));
            if (ranges[i] != ranges[i + 1]) {
                text.append('-').append(Integer.toHexString(ranges[i + 1]));
            }
        }
        return text.append(']').toString();
    }
}
