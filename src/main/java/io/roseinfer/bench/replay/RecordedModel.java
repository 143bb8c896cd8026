package io.roseinfer.bench.replay;

import io.roseinfer.model.ModelSpec;
import java.util.Locale;

/**
 * The model of a recording.
 *
 * @param name its name, as for {@code --model}; empty if unknown
 * @param shape its {@link ModelSpec#shape}; empty if unknown
 */
public record RecordedModel(String name, String shape) {
    /** An unknown model, or any model. */
    public static final RecordedModel NONE = new RecordedModel("", "");

    /**
     * Returns whether a simulated model may be this one: its shape is equal or, if that is unknown, its name without folder, organization
     * and case.
     *
     * @param simulated its name, as for {@code --model}
     */
    public boolean matches(String simulated, ModelSpec spec) {
        return shape.isEmpty() ? name.isEmpty() || isNamed(simulated) : shape.equals(spec.shape());
    }

    boolean isNamed(String other) {
        return baseName(name).equals(baseName(other));
    }

    private static String baseName(String model) {
        return model.replaceFirst("/+$", "").replaceFirst(".*[:/]", "").toLowerCase(Locale.ROOT);
    }
}
