package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import java.util.List;

/**
 * What a runner holds of a device, all of it made by {@link RunnerLoader}.
 *
 * @param releases gives all of it back, once the stream is idle
 */
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
        List<PendingStep> places,
        Releases releases) {

    LoadedRunner {
        places = List.copyOf(places);
    }
}
