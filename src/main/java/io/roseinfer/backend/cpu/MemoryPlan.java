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

/** What a runner will allocate, known before it allocates anything; largest first. */
record MemoryPlan(List<MemoryUse> uses) {
    MemoryPlan {
        uses = List.copyOf(uses);
    }

    static MemoryPlan of(ModelSpec spec, RunnerLimits limits, KvGeometry kv, WeightFormat format, int threads) {
        String suffix = " (" + format.name().toLowerCase(Locale.ROOT) + ")";
        List<MemoryUse> uses = new ArrayList<>();
        uses.add(new MemoryUse("KV pool", kv.bytes()));
        uses.add(new MemoryUse("token embedding" + suffix, matrix(spec, format, WeightSlot.TOKEN_EMBEDDING)));
        if (!spec.tiedHead()) {
            uses.add(new MemoryUse("output head" + suffix, matrix(spec, format, WeightSlot.HEAD)));
        }
        long attention = matrix(spec, format, WeightSlot.QKV) + matrix(spec, format, WeightSlot.ATTENTION_OUTPUT);
        uses.add(new MemoryUse("attention weights" + suffix, spec.layers() * attention));
        long mlp = matrix(spec, format, WeightSlot.MLP_INNER) + matrix(spec, format, WeightSlot.MLP_OUTPUT);
        uses.add(new MemoryUse("MLP weights" + suffix, spec.layers() * mlp));
        uses.add(new MemoryUse("positions, norms and biases", vectors(spec)));
        uses.add(new MemoryUse("activations", Scratch.bytes(spec, limits)));
        uses.add(new MemoryUse("worker buffers", threads * Worker.bytes(spec, limits)));
        uses.sort(Comparator.comparingLong(MemoryUse::bytes).reversed());
        return new MemoryPlan(uses);
    }

    long bytes() {
        return uses.stream().mapToLong(MemoryUse::bytes).sum();
    }

    private static long matrix(ModelSpec spec, WeightFormat format, WeightSlot slot) {
        long[] shape = slot.shape(spec);
        boolean byOutput = slot == WeightSlot.TOKEN_EMBEDDING || slot == WeightSlot.HEAD;
        int outputs = (int) shape[byOutput ? 0 : 1];
        long scales = format == WeightFormat.INT8 ? 4L * outputs : 0;
        return PackedMatrix.bytes(format, (int) shape[byOutput ? 1 : 0], outputs) + scales;
    }

    private static long vectors(ModelSpec spec) {
        long total = (long) spec.contextLength() * spec.width() + 2L * spec.width();
        return 4 * (total + spec.layers() * (9L * spec.width() + spec.innerWidth()));
    }
}
