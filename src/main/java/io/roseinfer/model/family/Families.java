package io.roseinfer.model.family;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.hub.KnownModels;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All families of models there are. */
public final class Families {
    private static final List<Family> ALL =
            List.of(new Gpt2(), new Llama(), new Qwen2(), new Qwen3(), new Mistral(), new SmolLm3(), new GptNeoX());

    private Families() {}

    /**
     * The family that a configuration is of.
     *
     * @throws BadModel if its {@code model_type} is none of ours
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
     * The shape that a configuration of any family describes.
     *
     * @param name what the spec is called
     * @throws BadModel naming the field, what was seen and what is allowed
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

    /** The names that a reference to a model may be. */
    public static KnownModels known() {
        return new KnownModels(
                shapes().map(ModelSpec::name).toList(),
                ALL.stream().flatMap(family -> family.movedHubIds().stream()).toList());
    }

    /** The published shape of this name, if there is one. */
    public static Optional<ModelSpec> shape(String name) {
        return shapes().filter(shape -> shape.name().equals(name)).findFirst();
    }

    /** The family that published a shape. */
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
