package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.CudaDevice;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.CudaSystem;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.backend.cuda.driver.LaunchLog;
import io.roseinfer.backend.cuda.driver.Releases;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Builds a runner: loads kernels, uploads weights, gives the remaining memory to the KV pool and captures graphs. */
final class RunnerLoader {
    /** The target device and its kernels. */
    record Target(CudaSystem system, CudaDevice device, KernelImages images) {}

    private final Weights weights;
    private final RunnerLimits limits;
    private final String device;
    private final int multiprocessors;
    private final DeviceContext context;
    private final KernelModules modules;
    private final CudaStream stream;
    private final Launcher launcher;
    private final DeviceMemory memory;
    private final HostMemory host;
    private final ModelShape shape;
    private final KernelChoice kernels;
    private final KvPages pages;
    private final Releases releases;

    private RunnerLoader(
            Releases releases,
            ModelSpec spec,
            Weights weights,
            RunnerLimits limits,
            CudaOptions options,
            Target target) {
        CudaDevice device = target.device();
        this.weights = weights;
        this.limits = limits;
        this.pages = KvPages.of(limits.blockSize());
        this.device = "device cuda:" + device.index();
        this.multiprocessors = device.multiprocessors();
        ElementType matrices = ElementType.of(
                options.precision(), weights.matrixType(), spec.head().norm().kind() == Norm.Kind.RMS);
        this.shape = ModelShape.of(spec, matrices, options.kvCacheDtype(), Shard.WHOLE);
        KernelTarget compiled = KernelTarget.of(device);
        compiled.requireWeights(matrices, device);
        compiled.requireKvCacheDtype(options.kvCacheDtype(), device);
        TilePlans plans = TileTable.load().of(shape.layerWeights(), matrices);
        this.kernels = new KernelChoice(plans, shape, pages.tokens(), compiled.isHopper(), options.batchInvariant());
        this.releases = releases;
        this.context = releases.add(DeviceContext.open(device.index()), DeviceContext::close);
        this.modules = releases.add(
                KernelModules.load(target.images(), target.system(), compiled, matrices), KernelModules::close);
        this.stream = new CudaStream(this.device, new LaunchLog(), releases);
        this.launcher = new Launcher(releases.add(new LaunchStream(modules, stream), LaunchStream::close));
        this.memory = releases.add(
                new DeviceMemory(DeviceMemory.DEVICE, this.device),
                held -> Check.that(held.close().isEmpty(), "device memory was not given back"));
        this.host = releases.add(new HostMemory(HostMemory.DRIVER), HostMemory::close);
    }

    /** Loads a model, or leaves the device unchanged on failure; preserves the calling thread's context. */
    static CudaModelRunner load(
            ModelSpec spec, Weights weights, RunnerLimits limits, CudaOptions options, Clock clock, Target target) {
        long context = DeviceContext.current();
        try {
            return loaded(spec, weights, limits, options, clock, target);
        } finally {
            DeviceContext.restore(context);
        }
    }

    private static CudaModelRunner loaded(
            ModelSpec spec, Weights weights, RunnerLimits limits, CudaOptions options, Clock clock, Target target) {
        RunnerLoader loader = open(spec, weights, limits, options, target);
        try {
            return new CudaModelRunner(loader.build(), loader.kernels, options, clock);
        } catch (RuntimeException | Error e) {
            loader.release(e);
            if (loader.stream.isOutOfMemory()) {
                throw loader.outOfMemory(e);
            }
            throw e;
        }
    }

    private static RunnerLoader open(
            ModelSpec spec, Weights weights, RunnerLimits limits, CudaOptions options, Target target) {
        Releases releases = new Releases();
        try {
            return new RunnerLoader(releases, spec, weights, limits, options, target);
        } catch (RuntimeException | Error e) {
            close(releases, e);
            throw e;
        }
    }

    private CudaRank build() {
        DeviceWeights packed = new WeightUpload(weights, shape, memory, stream, launcher).run();
        StepBuffers.Plan plan = StepBuffers.plan(shape, limits, kernels.widePages(limits), kernels.fusesNorms());
        KvGeometry kv = KvSizing.geometry(shape, limits, memory.freeBytes(), plan.bytes(), device);
        StepBuffers buffers = plan.allocate(memory, kv.bytes());
        memory.seal();
        memory.forEach(this::zero, "activations", "logits and sampling", "KV pool", "step inputs");
        stream.synchronize();
        if (kernels.prefillsByWgmma()) {
            mapAttention(buffers, kv.bytes());
        }
        List<PendingStep> pendingSteps = new ArrayList<>();
        for (int buffer = 0; buffer < 2; buffer++) {
            TokenSlots tokenSlots = new TokenSlots(host.allocate("tokens", 8L * limits.maxSamples()));
            LogprobSlots logprobSlots = new LogprobSlots(
                    host.allocate("log-probabilities", (long) SampleStructs.Report.BYTES * limits.maxSamples()));
            MemorySegment staging = host.allocateForUploads("step inputs", plan.inputBytes());
            MemorySegment sampleStaging = host.allocateForUploads("step inputs", plan.sampleInputBytes());
            pendingSteps.add(new PendingStep(
                    buffer,
                    staging,
                    sampleStaging,
                    tokenSlots,
                    logprobSlots,
                    releases.add(Driver.createEvent(), Driver::destroy)));
        }
        ForwardPass forward =
                new ForwardPass(shape, packed, buffers, launcher, multiprocessors, pages.of(kv), pendingSteps);
        CudaRank.Device resources = new CudaRank.Device(context, modules, memory, host, stream, launcher, releases);
        StepBudget budget = StepBudget.of(shape, multiprocessors);
        return new CudaRank(resources, shape, limits, budget, kv, packed, buffers, forward, pendingSteps);
    }

    /** Writes the tensor maps through which {@code attention_prefill_wgmma} copies pages and queries, and the ids of wide pages. */
    private void mapAttention(StepBuffers buffers, long poolBytes) {
        int width = shape.headPad();
        WgmmaPrefill prefill = new WgmmaPrefill(width, shape.heads(), shape.kvHeads());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pool = arena.allocate(Driver.TENSOR_MAP_BYTES, Driver.TENSOR_MAP_ALIGNMENT);
            MemorySegment queries = arena.allocate(Driver.TENSOR_MAP_BYTES, Driver.TENSOR_MAP_ALIGNMENT);
            int widePages = buffers.widePages();
            long elements = widePages > 0 ? (long) widePages * shape.pageElements() : poolBytes / 2;
            long address = widePages > 0 ? buffers.wide() : buffers.pool();
            Driver.encodeTensorMap(pool, address, new long[] {width, elements / width}, new int[] {KvPages.TOKENS});
            MemorySegment ids = arena.allocate(ValueLayout.JAVA_INT, Math.max(widePages, 1));
            for (int page = 0; page < widePages; page++) {
                ids.setAtIndex(ValueLayout.JAVA_INT, page, page);
            }
            stream.upload(buffers.widePageIds(), ids, ids.byteSize());
            long[] querySizes = {width, shape.heads(), buffers.panelRows()};
            Driver.encodeTensorMap(queries, buffers.queries(), querySizes, prefill.queryBox());
            stream.upload(buffers.poolMap(), pool, pool.byteSize());
            stream.upload(buffers.queryMap(), queries, queries.byteSize());
            stream.synchronize();
        }
    }

    private void zero(long address, long bytes) {
        stream.fill(address, 0, bytes);
    }

    /** Releases what was acquired, unless the device is lost; {@code cause} is the failure. */
    private void release(Throwable cause) {
        if (stream.drain()) {
            close(releases, cause);
        }
    }

    private static void close(Releases releases, Throwable cause) {
        try {
            releases.close();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    private InsufficientMemory outOfMemory(Throwable cause) {
        return new InsufficientMemory(
                DriverStatus.outOfMemory(device, "making the model's graphs and buffers")
                        .getMessage(),
                cause);
    }
}
