package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.Signature.Kind;
import io.roseinfer.base.Check;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Launches kernels: {@code kernel(k).grid(x, y).block(t).address(a).integer(n).launch()}. Builds one launch at a time in reused
 * memory, so it allocates nothing. Number, order and kinds of arguments must match {@link Signature}.
 */
final class Launcher {
    /** Receives launches: {@link LaunchStream}, or a test. */
    interface Sink {
        /** Returns the kernel of this name. */
        Kernel kernel(String name);

        /** Returns whether launches may overlap the kernel before, by programmatic dependent launch. */
        boolean overlaps();

        /** Returns the memory for argument values, {@link Signature#MAX_ARGUMENTS} of eight bytes. */
        MemorySegment values();

        /** Raises a kernel's dynamic shared memory limit to {@code bytes} if needed. */
        void prepare(Kernel kernel, int bytes);

        /** Launches a kernel with checked arguments, which {@link #values} holds. */
        void submit(Launcher launch);
    }

    private final Sink sink;
    private final MemorySegment values;

    private Kernel kernel;
    private int arguments;
    /** Kinds of the arguments so far, as in {@link Signature#kinds}. */
    private long kinds;

    private int gridX;
    private int gridY;
    private int threads;
    private int sharedBytes;
    private int cluster;
    private boolean overlap;

    public Launcher(Sink sink) {
        this.sink = sink;
        this.values = sink.values();
        this.kernel = sink.kernel("select_best");
    }

    public Sink sink() {
        return sink;
    }

    /** Begins a launch of one thread, with programmatic dependent launch if the target supports it. */
    public Launcher kernel(String name) {
        return kernel(sink.kernel(name));
    }

    /** Begins a launch of a kernel of {@link #sink()}, with the same defaults. */
    public Launcher kernel(Kernel chosen) {
        kernel = chosen;
        arguments = 0;
        kinds = Signature.NO_ARGUMENTS;
        gridX = 1;
        gridY = 1;
        threads = 1;
        sharedBytes = 0;
        cluster = 1;
        overlap = sink.overlaps();
        return this;
    }

    public Launcher grid(int x, int y) {
        gridX = x;
        gridY = y;
        return this;
    }

    public Launcher block(int size) {
        threads = size;
        return this;
    }

    public Launcher shared(int bytes) {
        sharedBytes = bytes;
        return this;
    }

    public Launcher cluster(int blocks) {
        cluster = blocks;
        return this;
    }

    /** Launches with an ordinary edge, after everything before has ended; not for clusters. */
    public Launcher afterAll() {
        overlap = false;
        return this;
    }

    public Launcher address(long device) {
        kinds = Signature.append(kinds, Kind.ADDRESS);
        values.setAtIndex(ValueLayout.JAVA_LONG, arguments++, device);
        return this;
    }

    public Launcher integer(int value) {
        kinds = Signature.append(kinds, Kind.INTEGER);
        values.set(ValueLayout.JAVA_INT, 8L * arguments++, value);
        return this;
    }

    public Launcher real(float value) {
        kinds = Signature.append(kinds, Kind.REAL);
        values.set(ValueLayout.JAVA_FLOAT, 8L * arguments++, value);
        return this;
    }

    /** Launches the kernel. Throws if its {@link Signature} has other arguments. */
    public void launch() {
        kernel.requireArguments(kinds);
        Check.that(overlap || cluster == 1, "a kernel with a cluster waits for all before it");
        sink.submit(this);
    }

    Kernel kernel() {
        return kernel;
    }

    int gridX() {
        return gridX;
    }

    int gridY() {
        return gridY;
    }

    int threads() {
        return threads;
    }

    int sharedBytes() {
        return sharedBytes;
    }

    /** Returns the blocks of a cluster, or 1. */
    int cluster() {
        return cluster;
    }

    boolean overlap() {
        return overlap;
    }
}
