package io.roseinfer.engine;

/**
 * The heap, as far as {@link AllocationFaultLoader} lets it be played with: from its n-th allocation on, a thread finds it full, for
 * some allocations or for ever. One fault at a time in a process.
 */
public final class AllocationFault {
    private static volatile String threadName = "";
    private static long first;
    private static long end;
    private static long occasions;

    private AllocationFault() {}

    /**
     * Arms the fault.
     *
     * @param threads how the name of the thread begins that finds the heap full
     * @param from the first allocation that fails
     * @param count how many fail
     */
    static void arm(String threads, long from, long count) {
        disarm();
        first = from;
        end = count > Long.MAX_VALUE - from ? Long.MAX_VALUE : from + count;
        occasions = 0;
        threadName = threads;
    }

    /** There is memory for everybody; whether there was none for somebody. */
    static boolean disarm() {
        threadName = "";
        return occasions > first;
    }

    /** Called before everything that may allocate. */
    public static void allocating() {
        String wanted = threadName;
        if (!wanted.isEmpty() && Thread.currentThread().getName().startsWith(wanted)) {
            long now = occasions++;
            if (now >= first && now < end) {
                throw new OutOfMemoryError("planted");
            }
        }
    }
}
