package io.roseinfer.model.family;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.model.CheckpointTensors;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.StoredTensor;
import io.roseinfer.model.UntiedHeadCheck;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;

/**
 * A checkpoint whose tensor names and shapes have been checked against a {@link ModelSpec}: every tensor of the tree
 * can be read. Tensors that the spec does not need are ignored, with a warning unless the family knows them.
 *
 * @param spec the final spec: its head is not tied if the checkpoint has a trained head
 * @param warnings what is suspicious, but valid, in the checkpoint; one line each, usually none
 */
public record BoundCheckpoint(ModelSpec spec, Weights weights, List<String> warnings) {
    public BoundCheckpoint {
        warnings = List.copyOf(warnings);
    }

    /**
     * Binds a checkpoint to a spec. A head that differs from the token embedding is used even if the spec ties the two,
     * as in transformers.
     *
     * @throws BadModel naming up to five tensors that are missing or have the wrong shape or type
     */
    public static BoundCheckpoint of(Family family, ModelSpec spec, Checkpoint source) {
        CheckpointTensors tensors = new CheckpointTensors(source);
        Weights found = family.weights(spec, tensors);
        tensors.requireSound();
        List<String> warnings = new ArrayList<>();
        Weights weights = spec.tiedHead() ? tied(found, warnings) : found;
        tensors.unused(family::ignores).ifPresent(warnings::add);
        return new BoundCheckpoint(spec.withTiedHead(weights.tiedHead()), weights, warnings);
    }

    /**
     * Returns the weights of a spec with a tied head; a head that is a copy of the token embedding is replaced by it.
     */
    private static Weights tied(Weights weights, List<String> warnings) {
        if (weights.tiedHead()) {
            return weights;
        }
        StoredTensor embedding = weights.embedding().asStored().orElseThrow();
        StoredTensor head = weights.head().asStored().orElseThrow();
        if (!UntiedHeadCheck.differs(embedding, head)) {
            return weights.withHead(weights.embedding());
        }
        warnings.add(weights.description() + ": " + head.name() + " differs from " + embedding.name()
                + ", although config.json ties them (tie_word_embeddings); " + head.name() + " is used");
        return weights;
    }
}
