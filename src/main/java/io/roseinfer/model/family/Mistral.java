package io.roseinfer.model.family;

import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Weights;
import io.roseinfer.model.family.GatedDecoder.Biases;
import io.roseinfer.model.family.GatedDecoder.Shape;
import java.util.List;
import java.util.Set;

/**
 * Mistral: a {@link GatedDecoder} with the same window in all layers: 4096 if {@code sliding_window} is absent, none if
 * it is null. Defaults follow {@code MistralConfig} in transformers.
 */
final class Mistral implements Family {
    private static final String DEFAULTS = """
            "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072,
            "rope_theta": 10000, "sliding_window": 4096""";

    private static final int END_OF_TEXT = 2;

    @Override
    public Set<String> modelTypes() {
        return Set.of("mistral");
    }

    @Override
    public ModelSpec spec(String name, ConfigJson config) {
        ConfigJson complete = config.withDefaults(DEFAULTS);
        ModelSpec spec = GatedDecoder.spec(name, complete, END_OF_TEXT);
        spec = spec.withBlocks(GatedDecoder.windows(config, spec, GatedDecoder.window(complete), layer -> true));
        int first = spec.attention().window();
        if (spec.blocks().stream().map(BlockSpec::attention).anyMatch(attention -> attention.window() != first)) {
            throw config.refusal(
                    "layer_types has two kinds of layers; models of this type have the same window in all layers");
        }
        return spec;
    }

    @Override
    public Weights weights(ModelSpec spec, TensorFinder tensors) {
        return GatedDecoder.weights(spec, tensors, Biases.NONE);
    }

    @Override
    public boolean ignores(String tensor) {
        return GatedDecoder.ignores(tensor);
    }

    /** Returns the third version, which has no window. */
    @Override
    public List<ModelSpec> shapes() {
        return List.of(new Shape("mistral-7b", 4096, 32, 32, 8, 128, 14336)
                .spec(32768, 32768, 1e-5f, Rope.plain(1_000_000, 128), false, END_OF_TEXT));
    }
}
