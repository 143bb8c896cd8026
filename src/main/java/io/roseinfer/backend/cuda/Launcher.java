package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.Signature.Kind;
import io.roseinfer.backend.cuda.driver.Address;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.base.Check;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.bytedeco.cuda.cudart.CUlaunchAttribute;
import org.bytedeco.cuda.cudart.CUlaunchAttributeValue;
import org.bytedeco.cuda.cudart.CUlaunchConfig;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/**
 * Launches kernels in a stream: {@code kernel(k).grid(x, y).block(t).address(a).integer(n).launch()}. Builds one launch at a time in
 * reused memory, so it allocates nothing. Number, order and kinds of arguments must match {@link Signature}.
 */
final class Launcher {
    private final KernelModules modules;
    private final CudaStream stream;
    private final Arena arena;
    /** Argument values of eight bytes each, then the array of pointers to them for the driver. */
    private final MemorySegment values;

    private final PointerPointer<Pointer> pointers;
    /** Programmatic stream serialization, then cluster dimension; a launch has none, the first, or both. */
    private final CUlaunchAttribute attributes = new CUlaunchAttribute(2);

    private final CUlaunchAttributeValue clusterSize;
    private final CUlaunchConfig config = new CUlaunchConfig();

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

    public Launcher(KernelModules modules, CudaStream stream) {
        this.modules = modules;
        this.stream = stream;
        this.kernel = modules.kernel("select_best");
        this.arena = Arena.ofShared();
        this.values = arena.allocate(8L * Signature.MAX_ARGUMENTS, 16);
        MemorySegment array = arena.allocate(8L * Signature.MAX_ARGUMENTS, 16);
        for (int i = 0; i < Signature.MAX_ARGUMENTS; i++) {
            array.setAtIndex(ValueLayout.JAVA_LONG, i, values.address() + 8L * i);
        }
        this.pointers = new PointerPointer<>(new Address(array));
        CUlaunchAttribute overlapping = attributes.getPointer(0);
        overlapping.id(cudart.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
        overlapping.value().programmaticStreamSerializationAllowed(1);
        CUlaunchAttribute clustered = attributes.getPointer(1);
        clustered.id(cudart.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        this.clusterSize = clustered.value().clusterDim_y(1).clusterDim_z(1);
        config.hStream(stream.handle()).gridDimZ(1).blockDimY(1).blockDimZ(1).attrs(attributes);
    }

    public CudaStream stream() {
        return stream;
    }

    public KernelModules modules() {
        return modules;
    }

    /** Begins a launch of one thread, with programmatic dependent launch if the target supports it. */
    public Launcher kernel(String name) {
        return kernel(modules.kernel(name));
    }

    /** Begins a launch of a kernel of {@link #modules()}, with the same defaults. */
    public Launcher kernel(Kernel chosen) {
        kernel = chosen;
        arguments = 0;
        kinds = Signature.NO_ARGUMENTS;
        gridX = 1;
        gridY = 1;
        threads = 1;
        sharedBytes = 0;
        cluster = 1;
        overlap = modules.target().overlaps();
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

    public void launch() {
        stream.requireUsable();
        kernel.requireArguments(kinds);
        Check.that(overlap || cluster == 1, "a kernel with a cluster waits for all before it");
        stream.check(kernel.prepare(sharedBytes), kernel.name());
        if (cluster > 1) {
            clusterSize.clusterDim_x(cluster);
        }
        config.gridDimX(gridX)
                .gridDimY(gridY)
                .blockDimX(threads)
                .sharedMemBytes(sharedBytes)
                .numAttrs(cluster > 1 ? 2 : overlap ? 1 : 0);
        stream.log().add(kernel.name(), gridX, gridY, threads, sharedBytes);
        stream.check(Driver.launch(config, kernel.function(), pointers), kernel.launching());
    }

    public void close() {
        config.close();
        attributes.close();
        arena.close();
    }
}
