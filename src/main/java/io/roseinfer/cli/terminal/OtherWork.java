package io.roseinfer.cli.terminal;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * Processor time used by other processes and the hypervisor, by the kernel's counters.
 *
 * @param total ticks of all processors
 * @param busy ticks spent on any process of this machine
 * @param stolen ticks that the hypervisor spent on other machines
 * @param ownNanos processor time of this process
 */
public record OtherWork(long total, long busy, long stolen, long ownNanos) {
    private static final double NANOS_PER_TICK = 1e7;

    /** Share of the processor time from which on the machine counts as busy. */
    private static final double MUCH = 0.1;

    private static final int IDLE = 3;
    private static final int IOWAIT = 4;
    private static final int STEAL = 7;

    /** Returns the current counters; empty if the platform has none. */
    public static Optional<OtherWork> now() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean os
                ? read(Path.of("/proc"), os.getProcessCpuTime())
                : Optional.empty();
    }

    /** Returns the counters of a file {@code stat}. */
    static Optional<OtherWork> read(Path proc, long ownNanos) {
        try {
            String line =
                    Files.readString(proc.resolve("stat")).lines().findFirst().orElse("");
            if (!line.matches("cpu( +\\d+){8,}")) {
                return Optional.empty();
            }
            // Only the first eight columns: guest time is already part of user and nice.
            long[] ticks = Arrays.stream(line.strip().split(" +"))
                    .skip(1)
                    .limit(STEAL + 1)
                    .mapToLong(Long::parseLong)
                    .toArray();
            long total = Arrays.stream(ticks).sum();
            long stolen = ticks[STEAL];
            return Optional.of(new OtherWork(total, total - ticks[IDLE] - ticks[IOWAIT] - stolen, stolen, ownNanos));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** Returns a note about the processor time that others used until a later time; empty if it was little. */
    public Optional<String> until(OtherWork later) {
        double all = later.total - total;
        double others = Math.max(0, later.busy - busy - (later.ownNanos - ownNanos) / NANOS_PER_TICK) / all;
        double hypervisor = (later.stolen - stolen) / all;
        return all > 0 && others + hypervisor >= MUCH
                ? Optional.of(String.format(
                        Locale.ROOT,
                        "the machine was busy: other processes took %.0f %% of its processor time, and the hypervisor"
                                + " %.0f %%; repeat the run on a quiet machine",
                        100 * others,
                        100 * hypervisor))
                : Optional.empty();
    }
}
