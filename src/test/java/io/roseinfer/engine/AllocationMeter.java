package io.roseinfer.engine;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Set;

/** Measures the allocations of the threads that serve a model: those started after the meter was created. */
public final class AllocationMeter {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Set<Thread> others = Set.copyOf(Thread.getAllStackTraces().keySet());

    /** Returns the ids of the threads whose names have one of these prefixes. */
    public long[] threads(String... prefixes) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !others.contains(thread))
                .filter(thread -> Arrays.stream(prefixes).anyMatch(thread.getName()::startsWith))
                .mapToLong(Thread::threadId)
                .toArray();
    }

    /** Returns the bytes these threads have allocated since they started. */
    public static long allocatedBytes(long... threads) {
        return Arrays.stream(THREADS.getThreadAllocatedBytes(threads)).sum();
    }
}
