package io.roseinfer.backend.cpu.kernel;

/**
 * The order of sums over an array: element i goes to lane i mod {@value #COUNT}, each lane adds in ascending order, and {@link #sum}
 * reduces the lanes pairwise. Vectors of 128, 256 and 512 bits can all follow it.
 */
public final class Lanes {
    public static final int COUNT = 16;

    private Lanes() {}

    /** Reduces the lanes by halves: lane j adds lane j + 8, then j + 4, and so on. Overwrites them. */
    public static float sum(float[] lanes) {
        for (int half = COUNT / 2; half > 0; half /= 2) {
            for (int j = 0; j < half; j++) {
                lanes[j] += lanes[j + half];
            }
        }
        return lanes[0];
    }
}
