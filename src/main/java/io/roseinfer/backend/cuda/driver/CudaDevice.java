package io.roseinfer.backend.cuda.driver;

import java.util.Locale;

/**
 * A GPU as reported by the driver.
 *
 * @param index among the visible devices
 * @param major compute capability, major version
 * @param minor compute capability, minor version
 * @param multiprocessors streaming multiprocessors
 * @param memoryBytes total memory
 */
public record CudaDevice(int index, String name, int major, int minor, int multiprocessors, long memoryBytes) {

    /** Returns the device in words, such as {@code NVIDIA H200, compute capability 9.0, 132 SMs, 139.8 GiB}. */
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
