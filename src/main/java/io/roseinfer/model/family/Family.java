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
 * A family of models: reads their {@code config.json} and knows the names and layouts of their tensors. A family is one
 * class; {@link Families} lists them.
 */
public interface Family {

    /** Returns the {@code model_type}s of its configurations. */
    Set<String> modelTypes();

    /** Returns the variant of the family for a configuration that affects its tensors, by default this family. */
    default Family variant(ConfigJson config) {
        return this;
    }

    /**
     * Returns the shape that a configuration describes. Every field that changes the result is supported or rejected.
     *
     * @param name the spec's name
     * @throws io.roseinfer.base.RoseException.BadModel naming the field, its value and the allowed values
     */
    ModelSpec spec(String name, ConfigJson config);

    /**
     * Looks up every tensor of a model. If the spec ties the head but the checkpoint has a tensor for it, that is
     * looked up too; {@link BoundCheckpoint} checks whether it differs.
     */
    Weights weights(ModelSpec spec, TensorFinder tensors);

    /**
     * Returns the fields of its configurations that do not affect the model's output, in addition to
     * {@link ConfigFields}.
     */
    default Set<String> fieldsWithoutEffect() {
        return Set.of();
    }

    /** Returns whether checkpoints may have this tensor although the forward pass does not need it. */
    default boolean ignores(String tensor) {
        return false;
    }

    /** Returns published shapes, for {@code random:NAME}. */
    default List<ModelSpec> shapes() {
        return List.of();
    }

    /** Returns models of the family whose id on the hub has changed. */
    default List<MovedId> movedHubIds() {
        return List.of();
    }

    /** Returns whether the family's tokenizer class, not {@code tokenizer.json}, decides how text is split. */
    default boolean ownsTokenizerClass() {
        return false;
    }

    /** Returns the built-in vocabulary for a model with this many tokens, for checkpoints without tokenizer files. */
    default Optional<Tokenizer> builtinVocabulary(int vocabularySize) {
        return Optional.empty();
    }
}
