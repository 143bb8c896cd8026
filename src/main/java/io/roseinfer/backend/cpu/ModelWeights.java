package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.RopeTable;
import java.util.List;
import java.util.Optional;

/** A model as the forward pass reads it: matrices packed off-heap, vectors as arrays. */
@SuppressWarnings("ArrayRecordComponent") // read in place by every worker; nobody compares models
record ModelWeights(
        PackedMatrix tokenEmbedding, float[] positions, List<Layer> layers, Norm finalNorm, PackedMatrix head) {

    /** Gain and bias of a normalisation, and what is added under the root; one by root mean square has no bias. */
    record Norm(Kind kind, float[] weight, float[] bias, float epsilon) {

        /** Normalises one row, from {@code from} on, to the beginning of {@code output}. */
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
     * Head norms and rotary positions of a block: applied to every head of queries and of keys before attention.
     *
     * @param queries by root mean square, if queries are normalised
     * @param keys likewise
     * @param rope none where positions do not turn; blocks that turn alike share one
     */
    record Heads(Optional<Norm> queries, Optional<Norm> keys, Optional<RopeTable> rope) {

        /** Whether nothing is done. */
        boolean arePlain() {
            return queries.isEmpty() && rope.isEmpty();
        }
    }

    /** One transformer block. A gate's panels stand in {@code mlpInner} before those they are for, as {@link PanelOrder} says. */
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

    /** Makes the rows of rotary positions up to {@code position} where they are not made. */
    void ensureRopeRows(int position) {
        for (int layer = 0; layer < layers.size(); layer++) { // an iterator would be allocated in every step
            Optional<RopeTable> rope = layers.get(layer).heads().rope();
            if (rope.isPresent()) {
                rope.get().reach(position);
            }
        }
    }

    /** The first matrix a step multiplies by, to be prefetched before it begins. */
    PackedMatrix first() {
        return layers.getFirst().qkv().matrix();
    }
}
