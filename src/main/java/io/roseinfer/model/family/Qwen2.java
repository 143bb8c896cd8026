package io.roseinfer.model.family;

import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Weights;
import io.roseinfer.model.family.GatedDecoder.Biases;
import io.roseinfer.model.family.GatedDecoder.Shape;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Qwen2 and Qwen2.5: a {@link GatedDecoder} with biases on queries, keys and values only. If {@code use_sliding_window}
 * is set, layers from {@code max_window_layers} on have windows, but no published file sets it. Defaults follow
 * {@code Qwen2Config} in transformers.
 */
final class Qwen2 implements Family {
    private static final String DEFAULTS = """
            "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 32768,
            "rope_theta": 10000, "sliding_window": 4096, "max_window_layers": 28""";

    private static final Biases BIASES = new Biases(true, false, false);

    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen2");
    }

    @Override
    public ModelSpec spec(String name, ConfigJson config) {
        if (config.flag("use_mrope", false)) {
            throw config.refusal("use_mrope is true; multimodal RoPE is not supported");
        }
        ConfigJson complete = config.withDefaults(DEFAULTS);
        ModelSpec spec = GatedDecoder.spec(name, complete);
        return spec.withBlocks(windows(complete, spec));
    }

    /** Returns the windows of Qwen's files, old and new. */
    static ModelSpec.BlockChange windows(ConfigJson config, ModelSpec spec) {
        Optional<Integer> window =
                config.flag("use_sliding_window", false) ? GatedDecoder.window(config) : Optional.empty();
        int first = config.count("max_window_layers");
        return GatedDecoder.windows(config, spec, window, layer -> layer >= first);
    }

    @Override
    public Set<String> fieldsWithoutEffect() {
        return Set.of("sliding_window");
    }

    @Override
    public Weights weights(ModelSpec spec, TensorFinder tensors) {
        return GatedDecoder.weights(spec, tensors, BIASES);
    }

    @Override
    public boolean ignores(String tensor) {
        return GatedDecoder.ignores(tensor);
    }

    @Override
    public List<ModelSpec> shapes() {
        return List.of(new Shape("qwen2.5-0.5b", 896, 24, 14, 2, 64, 4864)
                .spec(151936, 32768, 1e-6f, Rope.plain(1_000_000, 64), true, 151645, 151643));
    }
}
