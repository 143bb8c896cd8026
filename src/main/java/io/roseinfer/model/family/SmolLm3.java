package io.roseinfer.model.family;

import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Weights;
import io.roseinfer.model.family.GatedDecoder.Biases;
import io.roseinfer.model.family.GatedDecoder.LayerRule;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * SmolLM3: a {@link GatedDecoder} in which some layers, usually every fourth, have no position encoding: those with a 0
 * in {@code no_rope_layers}. With {@code use_sliding_window} these have windows. Defaults follow
 * {@code SmolLM3Config} in transformers.
 */
record SmolLm3(Biases biases) implements Family {
    private static final String DEFAULTS = """
            "vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
            "num_attention_heads": 16, "num_key_value_heads": 4, "max_position_embeddings": 32768,
            "rope_theta": 2000000, "no_rope_layer_interval": 4, "tie_word_embeddings": true""";

    private static final int END_OF_TEXT = 128001;

    SmolLm3() {
        this(Biases.NONE);
    }

    @Override
    public Set<String> modelTypes() {
        return Set.of("smollm3");
    }

    @Override
    public Family variant(ConfigJson config) {
        return new SmolLm3(Biases.of(config));
    }

    @Override
    public ModelSpec spec(String name, ConfigJson config) {
        ConfigJson complete = config.withDefaults(DEFAULTS);
        ModelSpec spec = GatedDecoder.spec(name, complete, END_OF_TEXT);
        LayerRule hasRope = layersWithRope(complete, spec.layers());
        Optional<Integer> window =
                complete.flag("use_sliding_window", false) ? GatedDecoder.window(complete) : Optional.empty();
        return spec.withBlocks(
                        (layer, block) -> hasRope.holds(layer) ? block : block.withPositions(new Positions.None()))
                .withBlocks(GatedDecoder.windows(complete, spec, window, layer -> !hasRope.holds(layer)));
    }

    /** Returns the layers with RoPE. */
    private static LayerRule layersWithRope(ConfigJson config, int layers) {
        Optional<List<String>> listed = config.perLayer("no_rope_layers", layers, "0", "1");
        if (listed.isPresent()) {
            return layer -> listed.get().get(layer).equals("1");
        }
        int interval = config.dimension("no_rope_layer_interval");
        return layer -> (layer + 1) % interval != 0;
    }

    /** Fields that other fields override; {@code pretraining_tp} splits products without changing them. */
    @Override
    public Set<String> fieldsWithoutEffect() {
        return Set.of("max_window_layers", "no_rope_layer_interval", "sliding_window", "pretraining_tp");
    }

    @Override
    public Weights weights(ModelSpec spec, TensorFinder tensors) {
        return GatedDecoder.weights(spec, tensors, biases);
    }

    @Override
    public boolean ignores(String tensor) {
        return GatedDecoder.ignores(tensor);
    }
}
