package io.roseinfer.bench.http;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/**
 * What this process has used: the client, and the server where that is in the same process.
 *
 * @param cpuNanos processor time of all threads; 0 where the platform does not say
 * @param collections garbage collections
 * @param collectionMillis how long they took in all
 * @param compileMillis what the JVM's compilers took, on threads of their own that compete for the processors
 * @param pauseNanos the longest time for which the whole process stood still
 */
public record ClientCost(long cpuNanos, long collections, long collectionMillis, long compileMillis, long pauseNanos) {
    /** Nothing, as of a run on simulated time. */
    public static final ClientCost NONE = new ClientCost(0, 0, 0, 0, 0);

    /** Since the process began. */
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

    /** Returns the cost since an earlier time, with the longest pause since then. */
    ClientCost since(ClientCost before, long longestPauseNanos) {
        return new ClientCost(
                cpuNanos - before.cpuNanos,
                collections - before.collections,
                collectionMillis - before.collectionMillis,
                compileMillis - before.compileMillis,
                longestPauseNanos);
    }
}
