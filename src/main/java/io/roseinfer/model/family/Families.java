package io.roseinfer.model.family;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.hub.KnownModels;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All supported model families. */
public final class Families {
    private static final List<Family> ALL =
            List.of(new Gpt2(), new Llama(), new Qwen2(), new Qwen3(), new Mistral(), new SmolLm3(), new GptNeoX());

    private Families() {}

    /**
     * Returns the family of a configuration.
     *
     * @throws BadModel if its {@code model_type} is not supported
     */
    public static Family of(ConfigJson config) {
        String type = config.text("model_type", "");
        return ALL.stream()
                .filter(family -> family.modelTypes().contains(type))
                .findFirst()
                .map(family -> family.variant(config))
                .orElseThrow(() -> config.refusal("model_type is " + (type.isEmpty() ? "missing" : "\"" + type + "\"")
                        + "; supported: " + modelTypes()));
    }

    /**
     * Returns the shape that a configuration of any family describes.
     *
     * @param name the spec's name
     * @throws BadModel naming the field, its value and the allowed values
     */
    public static ModelSpec spec(String name, ConfigJson config) {
        Family family = of(config);
        config.refuseUnsupported();
        ModelSpec spec = family.spec(name, config);
        config.warnOfUnread(field -> ConfigFields.isWithoutEffect(field)
                || family.fieldsWithoutEffect().contains(field));
        return spec;
    }

    private static String modelTypes() {
        return ALL.stream()
                .flatMap(family -> family.modelTypes().stream().sorted())
                .map(type -> "\"" + type + "\"")
                .collect(Collectors.joining(", "));
    }

    /** Returns the model names that a reference may use. */
    public static KnownModels known() {
        return new KnownModels(
                shapes().map(ModelSpec::name).toList(),
                ALL.stream().flatMap(family -> family.movedHubIds().stream()).toList());
    }

    /** Returns the published shape of this name, if there is one. */
    public static Optional<ModelSpec> shape(String name) {
        return shapes().filter(shape -> shape.name().equals(name)).findFirst();
    }

    /** Returns the family that published a shape. */
    public static Family ofShape(ModelSpec shape) {
        return ALL.stream()
                .filter(family -> family.shapes().contains(shape))
                .findFirst()
                .orElseThrow();
    }

    private static Stream<ModelSpec> shapes() {
        return ALL.stream().flatMap(family -> family.shapes().stream());
    }
}
