package io.roseinfer.backend.cuda.nvtx;

/**
 * The functions of the JNI library, as {@code native/nvtx.c} has them: NVTX's header. {@link NativeLibrary} loads it; until it says
 * so, a call ends in an {@code UnsatisfiedLinkError}.
 */
public final class NativeCalls {
    private NativeCalls() {}

    /** Whether the library was built with NVTX's header. */
    public static native boolean hasNvtx();

    /** Attaches the profiler's library of this path; false if it does not listen, or another was attached before. */
    static native boolean attach(String library);

    /** Begins a range of the calling thread; the name ends with a zero byte. Returns its depth. */
    public static native int push(long name);

    public static native int pop();
}
