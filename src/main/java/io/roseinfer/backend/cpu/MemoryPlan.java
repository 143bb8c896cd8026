package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The memory of a runner, planned before anything is allocated.
 *
 * @param uses every allocation, largest first
 * @param matrixBytes bytes of all packed matrices
 */
record MemoryPlan(List<MemoryUse> uses, long matrixBytes) {
    MemoryPlan {
        uses = List.copyOf(uses);
    }

    static MemoryPlan of(
            ModelSpec spec,
            RunnerLimits limits,
            KvGeometry kv,
            WeightFormat format,
            List<Kernels.Factory> kernels,
            int threads) {
        String suffix = suffix(format);
        String headSuffix = suffix(format.ofHead());
        int width = spec.width();
        Attention heads = spec.attention();
        int inner = spec.mlp().inner();
        long embedding = PackedMatrix.bytes(format.ofHead(), width, spec.vocabularySize());
        long head = spec.tiedHead() ? 0 : embedding;
        long attention = spec.layers()
                * (PackedMatrix.bytes(format, width, heads.qkvWidth())
                        + PackedMatrix.bytes(format, heads.queryWidth(), width));
        long mlp = spec.layers()
                * (PackedMatrix.bytes(format, width, packedInner(spec)) + PackedMatrix.bytes(format, inner, width));
        List<MemoryUse> uses = new ArrayList<>();
        uses.add(new MemoryUse("KV pool", kv.bytes()));
        uses.add(new MemoryUse("token embedding" + headSuffix, embedding));
        if (head > 0) {
            uses.add(new MemoryUse("output head" + headSuffix, head));
        }
        uses.add(new MemoryUse("attention weights" + suffix, attention));
        uses.add(new MemoryUse("MLP weights" + suffix, mlp));
        uses.add(new MemoryUse("positions, norms, biases, scales", vectors(spec, format)));
        uses.add(new MemoryUse("activations", Scratch.plan(spec, limits, format).bytes()));
        uses.add(new MemoryUse("kernel warm-up", KernelWarmUpCases.bytes(spec, format, kv.blockSize())));
        long matrices = embedding + head + attention + mlp;
        List<Kernels.Factory> kinds = RunnerLoader.kinds(kernels, matrices);
        uses.add(new MemoryUse("worker buffers", threads * Worker.bytes(spec, limits, format, kinds)));
        uses.add(new MemoryUse("step inputs", stepInputs(spec, limits, kv)));
        uses.add(new MemoryUse("packing buffers, while loading", WeightLoader.bufferBytes(spec, threads)));
        uses.sort(Comparator.comparingLong(MemoryUse::bytes).reversed());
        return new MemoryPlan(uses, matrices);
    }

    /** Returns the bytes of two steps' inputs, one in flight and one delivered, and of one step's block tables for the kernels. */
    private static long stepInputs(ModelSpec spec, RunnerLimits limits, KvGeometry kv) {
        int blocksPerContext = kv.blocksFor(spec.contextLength());
        return 2 * StepInputs.bytes(limits, blocksPerContext) + 4L * StepInputs.listedBlocks(limits, blocksPerContext);
    }

    long bytes() {
        return uses.stream().mapToLong(MemoryUse::bytes).sum();
    }

    private static String suffix(WeightFormat format) {
        return " (" + format.label() + ")";
    }

    private static int packedInner(ModelSpec spec) {
        return new PanelOrder(spec.mlp().outputs(), spec.mlp().gated()).packedOutputs();
    }

    /** Returns the elements of the RoPE tables; equal blocks share one. */
    private static long ropeElements(ModelSpec spec) {
        return spec.blocks().stream()
                .flatMap(block -> block.positions() instanceof Rope rope ? Stream.of(rope) : Stream.empty())
                .distinct()
                .mapToLong(rope -> (long) rope.rotarySize() * spec.contextLength())
                .sum();
    }

    private static long vectors(ModelSpec spec, WeightFormat format) {
        long width = spec.width();
        long products = spec.attention().qkvWidth() + (long) packedInner(spec) + 2 * width;
        long perLayer = products + 4 * width;
        long once = (spec.learnsPositions() ? spec.contextLength() * width : 0) + 2 * width + ropeElements(spec);
        long headScales = spec.vocabularySize() * (spec.tiedHead() ? 1L : 2L);
        long layerScales = spec.layers() * products;
        return 4
                * (once
                        + spec.layers() * perLayer
                        + (format.ofHead().scalesOutputs() ? headScales : 0)
                        + (format.scalesOutputs() ? layerScales : 0));
    }
}
