package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Check;
import java.util.List;

/** What a runner holds of a device, all of it made by {@link RunnerLoader}. */
record LoadedRunner(
        DeviceContext context,
        KernelModules modules,
        DeviceMemory memory,
        HostMemory host,
        CudaStream stream,
        Launcher launcher,
        ModelShape shape,
        RunnerLimits limits,
        KvGeometry kv,
        DeviceWeights weights,
        StepBuffers buffers,
        ForwardPass forward,
        List<PendingStep> places) {

    LoadedRunner {
        places = List.copyOf(places);
    }

    /** Gives everything back; the stream is idle. */
    void close() {
        places.forEach(place -> Driver.destroy(place.end));
        launcher.close();
        stream.close();
        List<String> leaks = memory.close();
        host.close();
        modules.close();
        context.close();
        Check.that(leaks.isEmpty(), "device memory was not given back");
    }
}
