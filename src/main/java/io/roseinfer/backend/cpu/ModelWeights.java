package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.RopeTable;
import java.util.List;
import java.util.Optional;

/** A model's weights: matrices packed off-heap, vectors as arrays. */
@SuppressWarnings("ArrayRecordComponent") // read in place by every worker, never compared
record ModelWeights(
        PackedMatrix tokenEmbedding, float[] positions, List<Layer> layers, Norm finalNorm, PackedMatrix head) {

    /** Weight, bias and epsilon of a norm; an RMS norm has no bias. */
    record Norm(Kind kind, float[] weight, float[] bias, float epsilon) {

        /** Normalizes a row at {@code from} to the start of {@code output}. */
        void apply(RowMath rows, float[] x, int from, float[] output) {
            switch (kind) {
                case LAYER -> rows.layerNorm(x, from, weight, bias, epsilon, output);
                case RMS -> rows.rmsNorm(x, from, weight, epsilon, output, 0);
            }
        }
    }

    /** y = x·matrix + bias. */
    record Linear(PackedMatrix matrix, float[] bias) {}

    /**
     * QK norm and RoPE of a block.
     *
     * @param queries RMS norm of query heads, if any
     * @param keys RMS norm of key heads, if any
     * @param rope empty without RoPE; equal blocks share one table
     */
    record Heads(Optional<Norm> queries, Optional<Norm> keys, Optional<RopeTable> rope) {

        /** Returns whether there is neither QK norm nor RoPE. */
        boolean arePlain() {
            return queries.isEmpty() && rope.isEmpty();
        }
    }

    /** A transformer block. In {@code mlpInner} gate and up panels alternate, as in {@link PanelOrder}. */
    record Layer(
            Norm attentionNorm,
            Linear qkv,
            Heads heads,
            Linear attentionOutput,
            Norm mlpNorm,
            Linear mlpInner,
            Linear mlpOutput) {}

    ModelWeights {
        layers = List.copyOf(layers);
    }

    /** Extends the RoPE tables up to {@code position}. */
    void ensureRopeRows(int position) {
        for (int layer = 0; layer < layers.size(); layer++) { // no iterator, to allocate nothing per step
            Optional<RopeTable> rope = layers.get(layer).heads().rope();
            if (rope.isPresent()) {
                rope.get().reach(position);
            }
        }
    }

    /** Returns the first matrix of a step, to prefetch it. */
    PackedMatrix first() {
        return layers.getFirst().qkv().matrix();
    }
}
