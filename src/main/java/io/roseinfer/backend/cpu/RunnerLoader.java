package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.Gpt2Weights;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.tensor.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import java.util.Locale;

/** Builds a runner: plans its memory, refuses what cannot fit, packs the weights and wires the passes. */
final class RunnerLoader {
    /** The KV pool's size if nobody asks for another, unless one whole context needs more. */
    private static final long DEFAULT_KV_BYTES = 1L << 30;

    /** Weights that last-level caches do not hold. */
    private static final long LARGE_BYTES = 64L << 20;

    private RunnerLoader() {}

    /**
     * Builds a runner.
     *
     * @param availableBytes memory that can be had
     * @throws InsufficientMemory if that is too little, before any of it is taken
     */
    static CpuModelRunner load(
            Gpt2Weights weights,
            RunnerLimits limits,
            Precision precision,
            List<Kernels.Factory> kernels,
            int threads,
            long availableBytes) {
        WeightFormat format = format(precision, weights);
        KvGeometry kv = geometry(weights.spec(), limits);
        MemoryPlan plan = MemoryPlan.of(weights.spec(), limits, kv, format, threads);
        if (plan.bytes() > availableBytes) {
            throw tooLarge(weights, kv, plan, (availableBytes >> 20) + " MiB of memory available");
        }
        Arena arena = Arena.ofShared();
        WorkerTeam team = new WorkerTeam(threads);
        try {
            return build(weights, limits, kv, format, kernels, arena, team, plan);
        } catch (OutOfMemoryError e) {
            release(team, arena);
            throw tooLarge(weights, kv, plan, "too little memory free (" + e.getMessage() + ")");
        } catch (RuntimeException | Error e) {
            release(team, arena);
            throw e;
        }
    }

    private static CpuModelRunner build(
            Gpt2Weights weights,
            RunnerLimits limits,
            KvGeometry kv,
            WeightFormat format,
            List<Kernels.Factory> kernels,
            Arena arena,
            WorkerTeam team,
            MemoryPlan plan) {
        ModelSpec spec = weights.spec();
        List<Kernels.Factory> kinds = kinds(kernels, plan.matrixBytes());
        MemorySegment kvMemory = LargeMemory.allocate(arena, KvPool.bytes(kv.bytes()));
        team.run(worker -> touch(kvMemory, worker, team.size()));
        KvPool pool = new KvPool(kvMemory, spec.layers(), spec.heads(), spec.headSize(), kv.blockSize());
        Scratch scratch = new Scratch(spec, limits, format);
        Worker[] workers = new Worker[team.size()];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(spec, limits, sets(kinds, spec), pool);
        }
        SegmentAllocator weightMemory =
                SegmentAllocator.slicingAllocator(LargeMemory.allocate(arena, plan.matrixBytes()));
        ModelWeights packed = new WeightLoader(weights, format, weightMemory, team).load();
        ForwardPass forward = new ForwardPass(spec, packed, pool, team, workers, scratch);
        HeadPass head = new HeadPass(spec, packed, team, workers, scratch);
        KernelWarmUp warmUp = new KernelWarmUp(kinds, new KernelExercises(spec, format, kv.blockSize(), arena));
        StepWork work = new StepWork(spec, packed);
        return new CpuModelRunner(
                spec, limits, kv, arena, team, pool, forward, head, precision(format), warmUp, work, plan.uses());
    }

    /** Leaves out what would be compiled for nothing. */
    private static List<Kernels.Factory> kinds(List<Kernels.Factory> all, long matrixBytes) {
        return matrixBytes >= LARGE_BYTES || all.size() == 1
                ? all
                : all.stream().filter(kind -> !kind.isForLargeModels()).toList();
    }

    private static List<Kernels> sets(List<Kernels.Factory> kinds, ModelSpec spec) {
        return kinds.stream().map(kind -> kind.create(spec.contextLength())).toList();
    }

    /** Makes the system provide one worker's share of the pages now, so that no step waits for it. */
    private static void touch(MemorySegment memory, int worker, int workers) {
        long from = memory.byteSize() / workers * worker;
        long to = worker == workers - 1 ? memory.byteSize() : memory.byteSize() / workers * (worker + 1);
        memory.asSlice(from, to - from).fill((byte) 0);
    }

    /** See {@link CpuOptions#precision()}. */
    static WeightFormat format(Precision precision, Gpt2Weights weights) {
        return switch (precision) {
            case AUTO -> weights.matrixType() == DType.BF16 ? WeightFormat.BF16 : WeightFormat.F32;
            case FP32, FP16 -> WeightFormat.F32;
            case BF16 -> WeightFormat.BF16;
            case INT8 -> WeightFormat.INT8;
            case INT4 -> WeightFormat.INT4;
        };
    }

    private static Precision precision(WeightFormat format) {
        return switch (format) {
            case F32 -> Precision.FP32;
            case BF16 -> Precision.BF16;
            case INT8 -> Precision.INT8;
            case INT4 -> Precision.INT4;
        };
    }

    /** The pool asked for, or room for every row's whole context within {@link #DEFAULT_KV_BYTES}; one context at least. */
    static KvGeometry geometry(ModelSpec spec, RunnerLimits limits) {
        long bytes = KvPool.blockBytes(spec.layers(), spec.heads(), spec.headSize(), limits.blockSize());
        long perContext = Math.ceilDiv(spec.contextLength(), limits.blockSize());
        long blocks = limits.kvBlocks();
        if (blocks == 0) {
            long affordable = Math.max(perContext, DEFAULT_KV_BYTES / bytes);
            blocks = Math.min(perContext * limits.maxRows(), affordable);
        }
        return new KvGeometry(limits.blockSize(), Math.toIntExact(blocks), bytes);
    }

    private static void release(WorkerTeam team, Arena arena) {
        team.close();
        arena.close();
    }

    private static InsufficientMemory tooLarge(Gpt2Weights weights, KvGeometry kv, MemoryPlan plan, String seen) {
        return new InsufficientMemory(String.format(
                Locale.ROOT,
                "%s needs %d MiB on the cpu, %d MiB of it for %d KV blocks; there is %s; use a smaller --kv-blocks,"
                        + " --max-batch-size or a narrower --dtype",
                weights.description(),
                megabytes(plan.bytes()),
                megabytes(kv.bytes()),
                kv.blocks(),
                seen));
    }

    private static long megabytes(long bytes) {
        return Math.ceilDiv(bytes, 1L << 20);
    }
}
