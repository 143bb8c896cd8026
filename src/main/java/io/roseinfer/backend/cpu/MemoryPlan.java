package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.WeightSlot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What a runner will allocate, known before it allocates anything.
 *
 * @param uses every allocation, largest first
 * @param matrixBytes the packed matrices together
 */
record MemoryPlan(List<MemoryUse> uses, long matrixBytes) {
    MemoryPlan {
        uses = List.copyOf(uses);
    }

    static MemoryPlan of(ModelSpec spec, RunnerLimits limits, KvGeometry kv, WeightFormat format, int threads) {
        String suffix = suffix(format);
        String headSuffix = suffix(format.ofHead());
        long embedding = matrix(spec, format, WeightSlot.TOKEN_EMBEDDING);
        long head = spec.tiedHead() ? 0 : matrix(spec, format, WeightSlot.HEAD);
        long attention = spec.layers()
                * (matrix(spec, format, WeightSlot.QKV) + matrix(spec, format, WeightSlot.ATTENTION_OUTPUT));
        long mlp = spec.layers()
                * (matrix(spec, format, WeightSlot.MLP_INNER) + matrix(spec, format, WeightSlot.MLP_OUTPUT));
        List<MemoryUse> uses = new ArrayList<>();
        uses.add(new MemoryUse("KV pool", kv.bytes()));
        uses.add(new MemoryUse("token embedding" + headSuffix, embedding));
        if (head > 0) {
            uses.add(new MemoryUse("output head" + headSuffix, head));
        }
        uses.add(new MemoryUse("attention weights" + suffix, attention));
        uses.add(new MemoryUse("MLP weights" + suffix, mlp));
        uses.add(new MemoryUse("positions, norms, biases, scales", vectors(spec, format)));
        uses.add(new MemoryUse("activations", Scratch.bytes(spec, limits, format)));
        uses.add(new MemoryUse("kernel warm-up", KernelExercises.bytes(spec, format, kv.blockSize())));
        uses.add(new MemoryUse("worker buffers", threads * Worker.bytes(spec, limits)));
        uses.sort(Comparator.comparingLong(MemoryUse::bytes).reversed());
        return new MemoryPlan(uses, embedding + head + attention + mlp);
    }

    long bytes() {
        return uses.stream().mapToLong(MemoryUse::bytes).sum();
    }

    private static String suffix(WeightFormat format) {
        return " (" + format.name().toLowerCase(Locale.ROOT) + ")";
    }

    private static long matrix(ModelSpec spec, WeightFormat format, WeightSlot slot) {
        long[] shape = slot.shape(spec);
        boolean byOutput = slot == WeightSlot.TOKEN_EMBEDDING || slot == WeightSlot.HEAD;
        return byOutput
                ? PackedMatrix.bytes(format.ofHead(), (int) shape[1], (int) shape[0])
                : PackedMatrix.bytes(format, (int) shape[0], (int) shape[1]);
    }

    private static long vectors(ModelSpec spec, WeightFormat format) {
        long perLayer = 9L * spec.width() + spec.innerWidth();
        long once = (long) spec.contextLength() * spec.width() + 2L * spec.width();
        long headScales = spec.vocabularySize() * (spec.tiedHead() ? 1L : 2L);
        long layerScales = spec.layers() * (5L * spec.width() + spec.innerWidth());
        return 4
                * (once
                        + spec.layers() * perLayer
                        + (format.ofHead() == WeightFormat.INT8 ? headScales : 0)
                        + (format == WeightFormat.INT8 ? layerScales : 0));
    }
}
