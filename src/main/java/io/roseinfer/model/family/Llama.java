package io.roseinfer.model.family;

import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Positions.Scaling;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Weights;
import io.roseinfer.model.family.GatedDecoder.Biases;
import io.roseinfer.model.family.GatedDecoder.Shape;
import java.util.List;
import java.util.Set;

/**
 * Llama 2 and 3 and similar models such as SmolLM2: a {@link GatedDecoder}, with biases if the configuration says so.
 * Defaults follow {@code LlamaConfig} in transformers.
 */
record Llama(Biases biases) implements Family {
    private static final String DEFAULTS = """
            "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
            "num_attention_heads": 32, "max_position_embeddings": 2048, "rope_theta": 10000""";

    private static final int END_OF_TEXT = 2;

    Llama() {
        this(Biases.NONE);
    }

    @Override
    public Set<String> modelTypes() {
        return Set.of("llama");
    }

    @Override
    public Family variant(ConfigJson config) {
        return new Llama(Biases.of(config));
    }

    @Override
    public ModelSpec spec(String name, ConfigJson config) {
        if (config.isSet("sliding_window")) {
            throw config.refusal("sliding_window is set; models of this type have no window, so remove it");
        }
        ModelSpec spec = GatedDecoder.spec(name, config.withDefaults(DEFAULTS), END_OF_TEXT);
        config.perLayer("layer_types", spec.layers(), "full_attention");
        return spec;
    }

    /**
     * Fields of older files that transformers does not read either; {@code pretraining_tp} splits products without
     * changing them.
     */
    @Override
    public Set<String> fieldsWithoutEffect() {
        return Set.of("activation", "is_llama_config", "pretraining_tp", "rope_interleaved");
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
                smolLm2("smollm2-135m", 576, 30, 9, 3),
                smolLm2("smollm2-360m", 960, 32, 15, 5),
                llama3(new Shape("llama-3.2-1b", 2048, 16, 32, 8, 64, 8192), 32, true),
                llama3(new Shape("llama-3.2-3b", 3072, 28, 24, 8, 128, 8192), 32, true),
                llama3(new Shape("llama-3.1-8b", 4096, 32, 32, 8, 128, 14336), 8, false));
    }

    private static ModelSpec smolLm2(String name, int width, int layers, int heads, int kvHeads) {
        int headSize = width / heads;
        return new Shape(name, width, layers, heads, kvHeads, headSize, width * 8 / 3)
                .spec(49152, 8192, 1e-5f, Rope.plain(100_000, headSize), true, 0);
    }

    /** Returns a Llama 3.1 or 3.2, trained on 8192 tokens and extended to 131072. */
    private static ModelSpec llama3(Shape shape, int factor, boolean tied) {
        Scaling scaling = new Scaling.ByWavelength(factor, 1, 4, 8192);
        Rope rope = new Rope(500_000, shape.headSize(), scaling);
        return shape.spec(128256, 131072, 1e-5f, rope, tied, 128001, 128008, 128009);
    }
}
