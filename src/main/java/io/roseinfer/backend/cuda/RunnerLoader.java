package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Clock;
import io.roseinfer.model.Gpt2Weights;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Builds a runner: loads the kernels, uploads the weights, gives what is left to the KV pool, captures the graphs. */
final class RunnerLoader {
    private final Gpt2Weights weights;
    private final RunnerLimits limits;
    private final String device;
    private final int multiprocessors;
    private final DeviceContext context;
    private final KernelModules modules;
    private final CudaStream stream;
    private final Launcher launcher;
    private final DeviceMemory memory;
    private final HostMemory host = new HostMemory(HostMemory.DRIVER);
    private final ModelShape shape;

    private RunnerLoader(
            DeviceContext context,
            Gpt2Weights weights,
            RunnerLimits limits,
            CudaOptions options,
            CudaSystem system,
            CudaDevice device,
            KernelImages images) {
        this.weights = weights;
        this.limits = limits;
        this.device = "device cuda:" + device.index();
        this.multiprocessors = device.multiprocessors();
        ElementType type = ElementType.of(options.precision(), weights.matrixType());
        this.shape = ModelShape.of(weights.spec(), type);
        this.context = context;
        this.modules = KernelModules.load(images, system, KernelTarget.of(device), type);
        this.stream = new CudaStream(this.device, new LaunchLog());
        this.launcher = new Launcher(modules, stream);
        this.memory = new DeviceMemory(DeviceMemory.DEVICE, this.device);
    }

    static CudaModelRunner load(
            Gpt2Weights weights,
            RunnerLimits limits,
            CudaOptions options,
            Clock clock,
            CudaSystem system,
            CudaDevice device,
            KernelImages images) {
        RunnerLoader loader = open(weights, limits, options, system, device, images);
        try {
            LoadedRunner on = loader.build();
            KernelChoice kernels =
                    new KernelChoice(loader.shape, limits.blockSize(), loader.modules.target().isHopper(), options.batchInvariant());
            return new CudaModelRunner(on, kernels, options.graphs(), clock);
        } catch (RuntimeException e) {
            loader.release();
            throw e;
        }
    }

    private static RunnerLoader open(
            Gpt2Weights weights,
            RunnerLimits limits,
            CudaOptions options,
            CudaSystem system,
            CudaDevice device,
            KernelImages images) {
        DeviceContext context = DeviceContext.open(device.index());
        try {
            return new RunnerLoader(context, weights, limits, options, system, device, images);
        } catch (RuntimeException e) {
            context.close();
            throw e;
        }
    }

    private LoadedRunner build() {
        DeviceWeights packed = new WeightUpload(weights, shape, memory, launcher).run();
        long inputs = inputBytes();
        SampleKernel sampling = SampleKernel.of(shape.spec().vocabularySize(), modules.target().isHopper());
        long others = 2 * inputs + StepBuffers.scratchBytes(shape, limits, sampling);
        KvGeometry kv = KvSizing.geometry(shape, limits, memory.freeBytes() - others, device);
        StepBuffers buffers = StepBuffers.allocate(memory, shape, limits, sampling, inputs, kv.bytes());
        memory.seal();
        memory.forEach(this::zero, "activations", "logits and sampling", "KV pool", "step inputs");
        stream.synchronize();
        List<PendingStep> places = new ArrayList<>();
        for (int turn = 0; turn < 2; turn++) {
            Mailbox mailbox = new Mailbox(host.allocate("tokens", 8L * limits.maxRows()));
            Reports reports = new Reports(host.allocate("log-probabilities", (long) Reports.BYTES * limits.maxRows()));
            MemorySegment staging = host.allocateForUploads("step inputs", inputs);
            places.add(new PendingStep(turn, staging, mailbox, reports, Driver.createEvent()));
        }
        ForwardPass forward = new ForwardPass(
                shape,
                packed,
                buffers,
                launcher,
                sampling,
                multiprocessors,
                kv.blockSize(),
                shape.layerBlockBytes(kv.blockSize()) * kv.blocks(),
                places.stream().mapToLong(place -> place.mailbox.address()).toArray(),
                places.stream().mapToLong(place -> place.reports.address()).toArray());
        return new LoadedRunner(
                context, modules, memory, host, stream, launcher, shape, limits, kv, packed, buffers, forward, places);
    }

    private void zero(long address, long bytes) {
        stream.fill(address, 0, bytes);
    }

    private long inputBytes() {
        long perRow = Math.ceilDiv(weights.spec().contextLength(), limits.blockSize());
        int rows = limits.maxRows();
        return new StepLayout(Math.max(limits.maxTokens(), rows), rows, rows)
                .bytes(
                        Math.toIntExact(perRow * rows),
                        rows,
                        Math.multiplyExact(rows, weights.spec().contextLength()));
    }

    private void release() {
        if (stream.usable()) {
            launcher.close();
            stream.close();
            memory.close();
            host.close();
            modules.close();
            context.close();
        }
    }
}
