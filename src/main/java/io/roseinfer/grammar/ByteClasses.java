package io.roseinfer.grammar;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * A partition of the 256 bytes into classes whose members a grammar does not distinguish, so that tables have a column
 * per class.
 */
final class ByteClasses {
    private static final int BYTES = 256;

    private final byte[] classes = new byte[BYTES];
    private final int[] representatives;
    private final int[] sizes;

    /** Creates the coarsest partition such that every set is a union of classes. */
    ByteClasses(Collection<ByteSet> sets) {
        int[] part = new int[BYTES];
        int parts = 1;
        for (ByteSet set : sets) {
            Map<Integer, Integer> split = new HashMap<>();
            for (int value = 0; value < BYTES; value++) {
                int side = 2 * part[value] + (set.contains(value) ? 1 : 0);
                Integer known = split.putIfAbsent(side, split.size());
                part[value] = known == null ? split.size() - 1 : known;
            }
            parts = split.size();
        }
        representatives = new int[parts];
        sizes = new int[parts];
        for (int value = BYTES - 1; value >= 0; value--) {
            classes[value] = (byte) part[value];
            representatives[part[value]] = value;
            sizes[part[value]]++;
        }
    }

    int count() {
        return representatives.length;
    }

    /** Returns the class of a byte. */
    int of(byte value) {
        return classes[value & 0xFF] & 0xFF;
    }

    /** Returns the smallest byte of a class, unsigned. */
    int representative(int byteClass) {
        return representatives[byteClass];
    }

    /** Returns the number of bytes in a class. */
    int size(int byteClass) {
        return sizes[byteClass];
    }
}
