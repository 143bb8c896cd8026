package io.roseinfer.bench.http;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/**
 * Resource usage of this process: the client, and an in-process server or engine.
 *
 * @param cpuNanos processor time of all threads; 0 if the platform does not report it
 * @param collections garbage collections
 * @param collectionMillis total time of garbage collections
 * @param compileMillis time of the JIT compilers, whose threads compete for processors
 * @param pauseNanos longest pause of the whole process
 */
public record ClientCost(long cpuNanos, long collections, long collectionMillis, long compileMillis, long pauseNanos) {
    /** No usage, for runs in simulated time. */
    public static final ClientCost NONE = new ClientCost(0, 0, 0, 0, 0);

    /** Returns the usage since the process started. */
    static ClientCost now() {
        long cpu = ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean os
                ? Math.max(0, os.getProcessCpuTime())
                : 0;
        long count = 0;
        long millis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += Math.max(0, collector.getCollectionCount());
            millis += Math.max(0, collector.getCollectionTime());
        }
        return new ClientCost(cpu, count, millis, Compilers.millis(), 0);
    }

    /** Returns the usage since an earlier time, with the longest pause since then. */
    ClientCost since(ClientCost before, long longestPauseNanos) {
        return new ClientCost(
                cpuNanos - before.cpuNanos,
                collections - before.collections,
                collectionMillis - before.collectionMillis,
                compileMillis - before.compileMillis,
                longestPauseNanos);
    }
}
