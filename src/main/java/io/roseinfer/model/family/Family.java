package io.roseinfer.model.family;

import io.roseinfer.hub.KnownModels.MovedId;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Weights;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Models whose checkpoints are alike: how their {@code config.json} reads, what their tensors are called and how they are laid
 * out. All that is known of a family stands in one class; {@link Families} lists them.
 */
public interface Family {

    /** The {@code model_type}s of its configurations. */
    Set<String> modelTypes();

    /** The family as a configuration varies it in what its tensors are; itself where it does not. */
    default Family variant(ConfigJson config) {
        return this;
    }

    /**
     * The shape that a configuration describes. Every field that changes the result is honoured or refused.
     *
     * @param name what the spec is called
     * @throws io.roseinfer.base.RoseException.BadModel naming the field, what was seen and what is allowed
     */
    ModelSpec spec(String name, ConfigJson config);

    /**
     * Looks up every tensor of a model. One whose spec ties the head to the token embedding has a head of its own all the same
     * if there is a tensor for it; {@link BoundCheckpoint} finds out whether it differs.
     */
    Weights weights(ModelSpec spec, TensorFinder tensors);

    /** Fields of its configurations that do not change what a model computes, besides {@link ConfigFields}. */
    default Set<String> fieldsWithoutEffect() {
        return Set.of();
    }

    /** Whether checkpoints may have a tensor of this name that the forward pass does not need. */
    default boolean ignores(String tensor) {
        return false;
    }

    /** Published shapes, for {@code random:NAME}. */
    default List<ModelSpec> shapes() {
        return List.of();
    }

    /** Models of the family whose id on the hub has changed. */
    default List<MovedId> movedHubIds() {
        return List.of();
    }

    /** Whether the family's own tokenizer class decides how text is cut, and not a {@code tokenizer.json}. */
    default boolean ownsTokenizerClass() {
        return false;
    }

    /** The built-in vocabulary that a model with this many tokens was trained on, for checkpoints that have none of their own. */
    default Optional<Tokenizer> builtinVocabulary(int vocabularySize) {
        return Optional.empty();
    }
}
