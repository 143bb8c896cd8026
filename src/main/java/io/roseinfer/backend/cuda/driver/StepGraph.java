package io.roseinfer.backend.cuda.driver;

import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;

/** A CUDA graph of a step, valid for the addresses and sizes at capture. */
public final class StepGraph {
    private final CUgraphExec_st executable;
    private final String name;
    private final String replaying;

    private StepGraph(CUgraphExec_st executable, String name) {
        this.executable = executable;
        this.name = name;
        this.replaying = "replaying " + name;
    }

    /** Captures the work that {@code launches} adds to the stream, without running it. */
    public static StepGraph capture(CudaStream stream, String name, Runnable launches) {
        CUgraph_st graph = record(stream, launches);
        try {
            return instantiate(stream, name, graph);
        } finally {
            Driver.destroy(graph);
        }
    }

    private static CUgraph_st record(CudaStream stream, Runnable launches) {
        stream.check(Driver.beginCapture(stream.handle()), "beginning a graph");
        CUgraph_st graph = new CUgraph_st();
        try {
            launches.run();
        } catch (Throwable e) {
            if (Driver.endCapture(stream.handle(), graph) == DriverStatus.SUCCESS) {
                Driver.destroy(graph);
            }
            throw e;
        }
        stream.check(Driver.endCapture(stream.handle(), graph), "ending a graph");
        return graph;
    }

    private static StepGraph instantiate(CudaStream stream, String name, CUgraph_st graph) {
        CUgraphExec_st executable = new CUgraphExec_st();
        stream.check(Driver.instantiate(executable, graph), "making a " + name);
        StepGraph made = new StepGraph(executable, name);
        try {
            stream.check(Driver.upload(executable, stream.handle()), "uploading a " + name);
            return made;
        } catch (Throwable e) {
            made.close();
            throw e;
        }
    }

    public void replay(CudaStream stream) {
        stream.requireUsable();
        stream.log().add(name, 1, 1, 0, 0);
        stream.check(Driver.launch(executable, stream.handle()), replaying);
    }

    public void close() {
        Driver.destroy(executable);
    }
}
