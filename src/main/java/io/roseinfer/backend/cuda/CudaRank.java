package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Releases;
import java.util.List;

/**
 * One device and the part of a model on it: its {@link Shard}, the weights and KV pool of that part, and what launches its steps.
 * All of it is made by {@link RunnerLoader}.
 */
record CudaRank(
        Device device,
        ModelShape shape,
        RunnerLimits limits,
        StepBudget budget,
        KvGeometry kv,
        DeviceWeights weights,
        StepBuffers buffers,
        ForwardPass forward,
        List<PendingStep> pendingSteps) {

    /**
     * Resources of the device: context, modules, memory, stream.
     *
     * @param releases gives all of it back, once the stream is idle
     */
    record Device(
            DeviceContext context,
            KernelModules modules,
            DeviceMemory memory,
            HostMemory host,
            CudaStream stream,
            Launcher launcher,
            Releases releases) {}

    CudaRank {
        pendingSteps = List.copyOf(pendingSteps);
    }

    DeviceContext context() {
        return device.context();
    }

    DeviceMemory memory() {
        return device.memory();
    }

    HostMemory host() {
        return device.host();
    }

    CudaStream stream() {
        return device.stream();
    }

    Releases releases() {
        return device.releases();
    }
}
