package io.roseinfer.backend.cpu;

import io.roseinfer.base.Check;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The named arrays of one owner: summed before anything is allocated, then allocated from the same list.
 */
final class ArrayPlan {
    /** Bytes of an element: a float or an int. */
    private static final long ELEMENT_BYTES = 4;

    /** Elements of planned arrays that are not yet allocated. */
    private final Map<String, Long> lengths = new LinkedHashMap<>();

    /** Plans an array of {@code length} floats or ints. */
    ArrayPlan add(String name, long length) {
        Check.that(lengths.put(name, length) == null, "two arrays are planned by one name");
        return this;
    }

    /** Returns the bytes of planned arrays that are not yet allocated. */
    long bytes() {
        return ELEMENT_BYTES
                * lengths.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Allocates a planned array of floats. */
    float[] floats(String name) {
        return new float[taken(name)];
    }

    /** Allocates a planned array of ints. */
    int[] ints(String name) {
        return new int[taken(name)];
    }

    private int taken(String name) {
        Long length = lengths.remove(name);
        if (length == null) {
            throw new IllegalStateException(
                    "bug in roseinfer: no array is planned as " + name + ", or it is allocated already");
        }
        return Math.toIntExact(length);
    }
}
