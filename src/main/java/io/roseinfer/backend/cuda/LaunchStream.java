package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.driver.Address;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.Driver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.bytedeco.cuda.cudart.CUlaunchAttribute;
import org.bytedeco.cuda.cudart.CUlaunchAttributeValue;
import org.bytedeco.cuda.cudart.CUlaunchConfig;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/** Launches kernels of the loaded modules in a stream. Reuses its memory, so it allocates nothing per launch. */
final class LaunchStream implements Launcher.Sink {
    private final KernelModules modules;
    private final CudaStream stream;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment values = arena.allocate(8L * Signature.MAX_ARGUMENTS, 16);
    /** The array of pointers to values that the driver reads. */
    private final PointerPointer<Pointer> pointers;
    /** Programmatic stream serialization, then cluster dimension; a launch has none, the first, or both. */
    private final CUlaunchAttribute attributes = new CUlaunchAttribute(2);

    private final CUlaunchAttributeValue clusterSize;
    private final CUlaunchConfig config = new CUlaunchConfig();

    LaunchStream(KernelModules modules, CudaStream stream) {
        this.modules = modules;
        this.stream = stream;
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

    @Override
    public Kernel kernel(String name) {
        return modules.kernel(name);
    }

    @Override
    public boolean overlaps() {
        return modules.target().overlaps();
    }

    @Override
    public MemorySegment values() {
        return values;
    }

    @Override
    public void prepare(Kernel kernel, int bytes) {
        stream.check(kernel.prepare(bytes), kernel.name());
    }

    @Override
    public void submit(Launcher launch) {
        stream.requireUsable();
        Kernel kernel = launch.kernel();
        int cluster = launch.cluster();
        prepare(kernel, launch.sharedBytes());
        if (cluster > 1) {
            clusterSize.clusterDim_x(cluster);
        }
        config.gridDimX(launch.gridX())
                .gridDimY(launch.gridY())
                .blockDimX(launch.threads())
                .sharedMemBytes(launch.sharedBytes())
                .numAttrs(cluster > 1 ? 2 : launch.overlap() ? 1 : 0);
        stream.log().add(kernel.name(), launch.gridX(), launch.gridY(), launch.threads(), launch.sharedBytes());
        stream.check(Driver.launch(config, kernel.function(), pointers), kernel.launching());
    }

    void close() {
        config.close();
        attributes.close();
        arena.close();
    }
}
