package io.roseinfer.engine;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Set;

/** What the threads that serve a model have allocated, by their own count: those that were started since the meter was made. */
public final class AllocationMeter {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Set<Thread> others = Set.copyOf(Thread.getAllStackTraces().keySet());

    /** The ids of the threads with one of these names. */
    public long[] threads(String... prefixes) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !others.contains(thread))
                .filter(thread -> Arrays.stream(prefixes).anyMatch(thread.getName()::startsWith))
                .mapToLong(Thread::threadId)
                .toArray();
    }

    /** Bytes these threads have allocated since they began. */
    public static long allocatedBytes(long... threads) {
        return Arrays.stream(THREADS.getThreadAllocatedBytes(threads)).sum();
    }
}
