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
 * A checkpoint whose names and shapes have been held against a {@link ModelSpec}: every tensor of the tree can be read. Tensors
 * that the spec does not need are left alone, with a warning unless the family knows them.
 *
 * @param spec as it turned out: its head is not tied if the checkpoint has one of its own
 * @param warnings what was odd, but not wrong, about the checkpoint; one line each, usually none
 */
public record BoundCheckpoint(ModelSpec spec, Weights weights, List<String> warnings) {
    public BoundCheckpoint {
        warnings = List.copyOf(warnings);
    }

    /**
     * Binds a source to a spec. A checkpoint that has a head of its own, other than the token embedding, keeps it though the
     * spec ties the two, as in transformers.
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

    /** The weights of a spec with a tied head: with the token embedding in place of a head that is but a copy of it. */
    private static Weights tied(Weights weights, List<String> warnings) {
        if (weights.tiedHead()) {
            return weights;
        }
        StoredTensor embedding = weights.embedding().asStored().orElseThrow();
        StoredTensor head = weights.head().asStored().orElseThrow();
        if (!UntiedHeadCheck.differs(embedding, head)) {
            return weights.withHead(weights.embedding());
        }
        warnings.add(weights.description() + ": " + head.name() + " is there and differs from " + embedding.name()
                + ", though config.json ties the two (tie_word_embeddings); " + head.name() + " is used");
        return weights;
    }
}
