package io.roseinfer.backend.cuda.nvtx;

/**
 * The JNI functions of {@code native/nvtx.c}, which wrap NVTX's header. {@link NativeLibrary} loads the library; before that, calls throw
 * {@code UnsatisfiedLinkError}.
 */
public final class NativeCalls {
    private NativeCalls() {}

    /** Returns whether the library was built with NVTX's header. */
    public static native boolean hasNvtx();

    /** Attaches a profiler's library; returns false if it ignores ranges or another was attached before. */
    static native boolean attach(String library);

    /** Begins a range on the calling thread and returns its depth; the name is zero-terminated. */
    public static native int push(long name);

    public static native int pop();
}
