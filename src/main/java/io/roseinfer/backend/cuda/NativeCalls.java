package io.roseinfer.backend.cuda;

/**
 * The functions of the JNI library, as {@code native/} has them. {@link NativeLibrary} loads it; until it says so, a call ends in an
 * {@code UnsatisfiedLinkError}. Addresses, handles and functions are those of the driver, as numbers.
 *
 * <p>What makes several driver calls returns the index of the call it ended at above the driver's code for it: all of them succeeded
 * if the {@linkplain #code code} is 0.
 */
final class NativeCalls {
    private NativeCalls() {}

    /** Whether the library was built with NVTX's header. */
    static native boolean hasNvtx();

    /** Attaches the profiler's library of this path; false if it does not listen, or another was attached before. */
    static native boolean attach(String library);

    /** Begins a range of the calling thread; the name ends with a zero byte. Returns its depth. */
    static native int push(long name);

    static native int pop();

    /** Looks the driver's functions up in a library, which stays open; returns what is wrong, or nothing. */
    static native String open(String library);

    /** Launches {@code count} kernels, one {@link LaunchBatch} record after the other. */
    static native long launch(long launches, int count, long stream);

    /**
     * Uploads a step's inputs and replays its graph, in four calls: the copy into the stream {@code uploads}, the event
     * {@code uploaded} behind it, the wait of {@code stream} for that event, the graph.
     */
    static native long replay(
            long target, long source, long bytes, long uploads, long uploaded, long graph, long stream);

    /** The driver's code in what a call returned. */
    static int code(long outcome) {
        return (int) outcome;
    }

    /** The index of the call that returned the code. */
    static int index(long outcome) {
        return (int) (outcome >>> 32);
    }
}
