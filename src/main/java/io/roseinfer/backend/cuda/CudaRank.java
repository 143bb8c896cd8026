package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Releases;
import java.util.List;

/** One device with its {@link Shard} of a model: weights, KV pool and forward pass. Built by {@link RunnerLoader}. */
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
     * @param releases frees all of it, once the stream is idle
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
