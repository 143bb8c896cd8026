package io.roseinfer.model;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The published GPT-2 sizes by name, for {@code random:NAME}. */
public final class Gpt2Shapes {
    private static final Map<String, ModelSpec> SHAPES = Map.of(
            "gpt2", shape("gpt2", 768, 12, 12),
            "gpt2-medium", shape("gpt2-medium", 1024, 24, 16),
            "gpt2-large", shape("gpt2-large", 1280, 36, 20),
            "gpt2-xl", shape("gpt2-xl", 1600, 48, 25));

    private Gpt2Shapes() {}

    /** The shape of this name, if it is one of gpt2, gpt2-medium, gpt2-large and gpt2-xl. */
    public static Optional<ModelSpec> named(String name) {
        return Optional.ofNullable(SHAPES.get(name));
    }

    private static ModelSpec shape(String name, int width, int layers, int heads) {
        return new ModelSpec(
                name,
                50257,
                1024,
                width,
                layers,
                heads,
                4 * width,
                Activation.GELU_TANH,
                1e-5f,
                true,
                false,
                true,
                List.of(50256));
    }
}
