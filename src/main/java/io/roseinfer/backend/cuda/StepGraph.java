package io.roseinfer.backend.cuda;

import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;

/** A sequence of launches that the driver replays as one. It is valid for the addresses and sizes it was captured with. */
final class StepGraph {
    private final CUgraphExec_st executable;
    private final String name;
    private final String replaying;

    private StepGraph(CUgraphExec_st executable, String name) {
        this.executable = executable;
        this.name = name;
        this.replaying = "replaying " + name;
    }

    /** Captures what {@code launches} puts into the stream; nothing of it runs. */
    static StepGraph capture(CudaStream stream, String name, Runnable launches) {
        stream.check(Driver.beginCapture(stream.handle()), "beginning a graph");
        CUgraph_st graph = new CUgraph_st();
        try {
            launches.run();
        } finally {
            int code = Driver.endCapture(stream.handle(), graph);
            if (stream.usable()) {
                stream.check(code, "ending a graph");
            }
        }
        CUgraphExec_st executable = new CUgraphExec_st();
        stream.check(Driver.instantiate(executable, graph), "making a graph of " + name);
        Driver.destroy(graph);
        stream.check(Driver.upload(executable, stream.handle()), "uploading a graph");
        return new StepGraph(executable, name);
    }

    void replay(CudaStream stream) {
        stream.requireUsable();
        stream.log().add(name, 1, 1, 0, 0);
        stream.check(Driver.launch(executable, stream.handle()), replaying);
    }

    void close() {
        Driver.destroy(executable);
    }
}
