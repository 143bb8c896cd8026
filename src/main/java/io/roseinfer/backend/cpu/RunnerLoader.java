package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.CpuModelRunner.SharedWeights;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.ModelFeature;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Builds runners: plans memory, rejects models that do not fit, packs weights and connects the passes. */
final class RunnerLoader {
    /** Default size of all KV pools, unless one full context needs more. */
    private static final long DEFAULT_KV_BYTES = 1L << 30;

    /** Maximum share of the memory after weights for larger KV pools. */
    private static final double MAX_KV_SHARE = 0.5;

    /** Bytes of a pool that are touched before the first step; the rest is for contexts that may never come. */
    private static final long PREFAULTED_BYTES = DEFAULT_KV_BYTES;

    /** Weights larger than last-level caches. */
    private static final long LARGE_BYTES = 64L << 20;

    /** Model features that the kernels support. */
    private static final Set<ModelFeature> SUPPORTED = Set.of(
            ModelFeature.RMS_NORM,
            ModelFeature.ROPE,
            ModelFeature.PARTIAL_ROPE,
            ModelFeature.NO_POSITIONS,
            ModelFeature.GROUPED_QUERY_ATTENTION,
            ModelFeature.OTHER_QUERY_WIDTH,
            ModelFeature.QK_NORM,
            ModelFeature.WINDOW,
            ModelFeature.GATED_MLP,
            ModelFeature.PARALLEL_RESIDUAL);

    private RunnerLoader() {}

    /**
     * Builds runners over shared packed weights.
     *
     * @param threads of each runner
     * @param availableBytes available memory
     * @throws BadModel if the kernels do not support the model
     * @throws InsufficientMemory if memory is too small, before any allocation
     */
    static List<CpuModelRunner> load(
            ModelSpec spec,
            Weights weights,
            RunnerLimits limits,
            Precision precision,
            List<Kernels.Factory> kernels,
            List<Integer> threads,
            long availableBytes) {
        ModelFeature.require(spec, SUPPORTED, "cpu");
        WeightFormat format = format(precision, weights);
        long blockBytes = blockBytes(spec, limits.blockSize());
        KvGeometry least = new KvGeometry(limits.blockSize(), 1, blockBytes);
        long room = availableBytes - bytes(plans(spec, limits, least, format, kernels, threads));
        KvGeometry kv = geometry(spec, limits, threads.size(), room);
        List<RunnerPlan> plans = plans(spec, limits, kv, format, kernels, threads);
        long bytes = bytes(plans);
        if (bytes > availableBytes) {
            throw tooLarge(weights, bytes, plans, availableBytes, (availableBytes >> 20) + " MiB of memory available");
        }
        Arena weightArena = Arena.ofShared();
        SharedWeights shared = new SharedWeights(weightArena);
        List<CpuModelRunner> runners = new ArrayList<>();
        try {
            ModelWeights packed = pack(plans.getFirst(), weights, weightArena, threads);
            for (int i = 0; i < plans.size(); i++) {
                runners.add(build(plans.get(i), packed, shared, kernels, threads.get(i)));
            }
            return runners;
        } catch (OutOfMemoryError e) {
            if ("Java heap space".equals(e.getMessage())) {
                throw new InsufficientMemory(
                        "the Java heap of " + megabytes(Runtime.getRuntime().maxMemory())
                                + " MiB is too small to load the model; raise -Xmx",
                        e);
            }
            throw tooLarge(weights, bytes, plans, 0, "too little memory free (" + e.getMessage() + ")");
        } finally {
            if (runners.size() < plans.size()) {
                runners.forEach(CpuModelRunner::close);
            }
            shared.release();
        }
    }

    private static List<RunnerPlan> plans(
            ModelSpec spec,
            RunnerLimits limits,
            KvGeometry kv,
            WeightFormat format,
            List<Kernels.Factory> kernels,
            List<Integer> threads) {
        return threads.stream()
                .map(own ->
                        new RunnerPlan(spec, limits, kv, format, MemoryPlan.of(spec, limits, kv, format, kernels, own)))
                .toList();
    }

    /** Returns the bytes of all runners, with shared matrices counted once. */
    private static long bytes(List<RunnerPlan> plans) {
        long bytes = plans.stream().mapToLong(plan -> plan.memory().bytes()).sum();
        return bytes - (plans.size() - 1) * plans.getFirst().memory().matrixBytes();
    }

    /** Packs the weights with the threads of all runners. */
    private static ModelWeights pack(RunnerPlan plan, Weights weights, Arena arena, List<Integer> threads) {
        WorkerTeam team =
                new WorkerTeam(threads.stream().mapToInt(Integer::intValue).sum());
        try {
            SegmentAllocator memory = SegmentAllocator.slicingAllocator(
                    LargeMemory.allocate(arena, plan.memory().matrixBytes()));
            return new WeightLoader(plan.spec(), weights, plan.format(), memory, team).load();
        } finally {
            team.close();
        }
    }

    private static CpuModelRunner build(
            RunnerPlan plan, ModelWeights packed, SharedWeights shared, List<Kernels.Factory> kernels, int threads) {
        Arena arena = Arena.ofShared();
        WorkerTeam team = new WorkerTeam(threads);
        try {
            return build(plan, packed, shared, kernels, arena, team);
        } catch (RuntimeException | Error e) {
            release(team, arena);
            throw e;
        }
    }

    private static CpuModelRunner build(
            RunnerPlan plan,
            ModelWeights packed,
            SharedWeights shared,
            List<Kernels.Factory> kernels,
            Arena arena,
            WorkerTeam team) {
        ModelSpec spec = plan.spec();
        RunnerLimits limits = plan.limits();
        KvGeometry kv = plan.kv();
        WeightFormat format = plan.format();
        Attention heads = spec.attention();
        List<Kernels.Factory> kinds = kinds(kernels, plan.memory().matrixBytes());
        MemorySegment kvMemory = LargeMemory.allocate(arena, KvPool.bytes(kv.bytes()));
        MemorySegment first = kvMemory.asSlice(0, Math.min(kvMemory.byteSize(), PREFAULTED_BYTES));
        team.run(worker -> touch(first, worker, team.size()));
        KvPool pool = new KvPool(kvMemory, spec.layers(), heads.kvHeads(), heads.headSize(), kv.blockSize());
        Scratch scratch = new Scratch(spec, limits, format);
        Worker[] workers = new Worker[team.size()];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(spec, limits, sets(kinds, format, spec), pool);
        }
        ForwardPass forward = new ForwardPass(spec, packed, pool, team, workers, scratch);
        LmHeadPass head = new LmHeadPass(spec, packed, team, workers, scratch);
        KernelWarmUp warmUp = new KernelWarmUp(kinds, new KernelWarmUpCases(spec, format, kv.blockSize(), arena));
        Passes passes = new Passes(forward, head, new StepWork(spec, packed), warmUp);
        return new CpuModelRunner(plan, arena, team, pool, passes, shared.retain());
    }

    /** Returns the kinds of kernels worth compiling for a model of this size. */
    static List<Kernels.Factory> kinds(List<Kernels.Factory> all, long matrixBytes) {
        return matrixBytes >= LARGE_BYTES || all.size() == 1
                ? all
                : all.stream().filter(kind -> !kind.isForLargeModels()).toList();
    }

    private static List<Kernels> sets(List<Kernels.Factory> kinds, WeightFormat format, ModelSpec spec) {
        return kinds.stream()
                .map(kind -> kind.create(format, spec.contextLength()))
                .toList();
    }

    /** Touches a worker's share of the pages, so that no step takes page faults. */
    private static void touch(MemorySegment memory, int worker, int workers) {
        long from = memory.byteSize() / workers * worker;
        long to = worker == workers - 1 ? memory.byteSize() : memory.byteSize() / workers * (worker + 1);
        memory.asSlice(from, to - from).fill((byte) 0);
    }

    /** Returns the weight format of {@link CpuOptions#precision()}. */
    static WeightFormat format(Precision precision, Weights weights) {
        return precision == Precision.AUTO
                ? WeightFormat.keeping(weights.matrixType())
                : WeightFormat.of(precision).orElseThrow();
    }

    /**
     * Returns the requested pool, or by default every row's full context within {@link #DEFAULT_KV_BYTES} over all replicas; more, up to
     * {@link #MAX_KV_SHARE} of the memory, if one full context needs it.
     *
     * @param room bytes available after all other allocations
     */
    static KvGeometry geometry(ModelSpec spec, RunnerLimits limits, int replicas, long room) {
        long bytes = blockBytes(spec, limits.blockSize());
        long perContext = Math.ceilDiv(spec.contextLength(), limits.blockSize());
        long blocks = limits.kvBlocks();
        if (blocks == 0) {
            long usual = DEFAULT_KV_BYTES / replicas / bytes;
            long fit = (long) (Math.max(0, room) * MAX_KV_SHARE) / replicas / bytes;
            long affordable = Math.max(usual, Math.min(perContext, fit));
            blocks = Math.max(1, Math.min(perContext * limits.maxRows(), affordable));
        }
        return new KvGeometry(limits.blockSize(), Math.toIntExact(blocks), bytes);
    }

    private static long blockBytes(ModelSpec spec, int blockSize) {
        Attention heads = spec.attention();
        return KvPool.blockBytes(spec.layers(), heads.kvHeads(), heads.headSize(), blockSize);
    }

    private static void release(WorkerTeam team, Arena arena) {
        team.close();
        arena.close();
    }

    /**
     * Returns the error for too little memory.
     *
     * @param availableBytes available memory; 0 if unknown
     */
    private static InsufficientMemory tooLarge(
            Weights weights, long bytes, List<RunnerPlan> plans, long availableBytes, String seen) {
        RunnerPlan plan = plans.getFirst();
        long kvBytes = plans.size() * plan.kv().bytes();
        String ofKv =
                megabytes(kvBytes) + " MiB for " + plans.size() * plan.kv().blocks() + " KV blocks";
        long matrixBytes = plan.memory().matrixBytes();
        String ofWeights = megabytes(matrixBytes) + " MiB for weights";
        boolean weightsFirst = matrixBytes > kvBytes;
        return new InsufficientMemory(
                String.format(
                        Locale.ROOT,
                        "%s needs %d MiB on the cpu: %s, %s; there is %s",
                        weights.description(),
                        megabytes(bytes),
                        weightsFirst ? ofWeights : ofKv,
                        weightsFirst ? ofKv : ofWeights,
                        seen),
                // With KV blocks that exceed the memory by themselves, and only those, nothing else helps.
                kvBytes > availableBytes && bytes - kvBytes <= availableBytes
                        ? Remedy.of("use a smaller %s", "kv_blocks")
                        : remedy(plan.format().narrower(), weightsFirst));
    }

    /** Returns the remedy with the setting of the largest part first. */
    private static Remedy remedy(Optional<WeightFormat> narrower, boolean weightsFirst) {
        if (narrower.isEmpty()) {
            return Remedy.of("use a smaller %s or %s", "kv_blocks", "max_batch_size");
        }
        String precision = narrower.orElseThrow().label();
        return weightsFirst
                ? Remedy.of("use %s " + precision + ", or a smaller %s or %s", "dtype", "kv_blocks", "max_batch_size")
                : Remedy.of("use a smaller %s or %s, or %s " + precision, "kv_blocks", "max_batch_size", "dtype");
    }

    private static long megabytes(long bytes) {
        return Math.ceilDiv(bytes, 1L << 20);
    }
}
