package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import java.util.List;

/** A model as the forward pass reads it: matrices packed off-heap, vectors as arrays. */
@SuppressWarnings("ArrayRecordComponent") // read in place by every worker; nobody compares models
record ModelWeights(
        PackedMatrix tokenEmbedding, float[] positions, List<Layer> layers, Norm finalNorm, PackedMatrix head) {

    /** Gain and bias of a layer normalisation, and what is added to the variance. */
    record Norm(float[] gain, float[] bias, float epsilon) {}

    /** y = x·matrix + bias. */
    record Linear(PackedMatrix matrix, float[] bias) {}

    /** One transformer block. */
    record Layer(
            Norm attentionNorm, Linear qkv, Linear attentionOutput, Norm mlpNorm, Linear mlpInner, Linear mlpOutput) {}

    ModelWeights {
        layers = List.copyOf(layers);
    }

    /** What a step multiplies by first. */
    PackedMatrix first() {
        return layers.getFirst().qkv().matrix();
    }
}
