package io.roseinfer.backend.cuda.driver;

import java.util.Locale;

/**
 * A GPU as the driver describes it.
 *
 * @param index its number among the visible ones
 * @param major compute capability, before the point
 * @param minor compute capability, behind the point
 * @param multiprocessors streaming multiprocessors
 * @param memoryBytes all of its memory
 */
public record CudaDevice(int index, String name, int major, int minor, int multiprocessors, long memoryBytes) {

    /** The device in words, such as {@code NVIDIA H200, compute capability 9.0, 132 SMs, 139.8 GiB}. */
    public String description() {
        return String.format(
                Locale.ROOT,
                "%s, compute capability %d.%d, %d SMs, %.1f GiB",
                name,
                major,
                minor,
                multiprocessors,
                memoryBytes / (double) (1L << 30));
    }
}
