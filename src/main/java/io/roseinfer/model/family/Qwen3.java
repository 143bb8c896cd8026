package io.roseinfer.model.family;

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
 * Qwen3: a {@link GatedDecoder} with QK norm and a head size that is independent of the width. Windows as in
 * {@link Qwen2}. Defaults follow {@code Qwen3Config} in transformers.
 */
record Qwen3(Biases biases) implements Family {
    private static final String DEFAULTS = """
            "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128, "max_position_embeddings": 32768,
            "rope_theta": 10000, "sliding_window": 4096, "max_window_layers": 28""";

    Qwen3() {
        this(Biases.NONE);
    }

    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen3");
    }

    @Override
    public Family variant(ConfigJson config) {
        boolean attention = config.flag("attention_bias", false);
        return new Qwen3(new Biases(attention, attention, false));
    }

    @Override
    public ModelSpec spec(String name, ConfigJson config) {
        ConfigJson complete = config.withDefaults(DEFAULTS);
        ModelSpec spec = normed(GatedDecoder.spec(name, complete));
        return spec.withBlocks(Qwen2.windows(complete, spec));
    }

    private static ModelSpec normed(ModelSpec spec) {
        return spec.withBlocks(
                (layer, block) -> block.withAttention(block.attention().withQkNorms()));
    }

    @Override
    public Set<String> fieldsWithoutEffect() {
        return Set.of("sliding_window");
    }

    @Override
    public Weights weights(ModelSpec spec, TensorFinder tensors) {
        return GatedDecoder.weights(spec, tensors, biases);
    }

    @Override
    public boolean ignores(String tensor) {
        return GatedDecoder.ignores(tensor);
    }

    @Override
    public List<ModelSpec> shapes() {
        return List.of(
                shape("qwen3-0.6b", 1024, 28, 16, 3072, true),
                shape("qwen3-1.7b", 2048, 28, 16, 6144, true),
                shape("qwen3-4b", 2560, 36, 32, 9728, true),
                shape("qwen3-8b", 4096, 36, 32, 12288, false));
    }

    private static ModelSpec shape(String name, int width, int layers, int heads, int inner, boolean tied) {
        return normed(new Shape(name, width, layers, heads, 8, 128, inner)
                .spec(151936, 40960, 1e-6f, Rope.plain(1_000_000, 128), tied, 151645, 151643));
    }
}
