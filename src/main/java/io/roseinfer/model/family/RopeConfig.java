package io.roseinfer.model.family;

import io.roseinfer.base.Limits;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Positions.Scaling;
import java.util.List;

/**
 * Reads the RoPE fields of {@code config.json}, which are the same in every family. Transformers 5 writes
 * {@code rope_parameters}; earlier versions {@code rope_scaling} next to {@code rope_theta}, which still takes
 * precedence. Scalings are read as in transformers 5; YaRN's factor is the given one, regardless of the context
 * lengths.
 */
final class RopeConfig {
    private static final String ORIGINAL = "original_max_position_embeddings";
    private static final String PART = "partial_rotary_factor";

    private RopeConfig() {}

    /** Reads RoPE over whole heads, at {@code rope_theta}. */
    static Rope read(ConfigJson config, int headSize, int context) {
        ConfigJson given = section(config);
        for (ConfigJson each : List.of(config, given)) {
            if (each.number(PART, 1) != 1) {
                throw each.refusal(PART + " is set; models of this type apply RoPE to whole heads, so it must be 1");
            }
        }
        double theta = given.number("rope_theta", config.number("rope_theta"));
        return new Rope(theta, headSize, scaling(given, config, context));
    }

    /**
     * Reads RoPE over the first part of each head.
     *
     * @param theta the default of {@code rope_theta}
     * @param part the default of {@code partial_rotary_factor}
     */
    static Rope readPartial(ConfigJson config, double theta, double part, int headSize, int context) {
        ConfigJson given = section(config);
        double share = given.number(PART, part);
        int size = (int) (headSize * share);
        if (share > 1 || size < 1) {
            throw config.refusal("the rotary part of a head is " + share
                    + " (rotary_pct, or partial_rotary_factor); it must be at most 1 and have at least one element");
        }
        double base = given.number("rope_theta", theta);
        // An odd size is rounded up, and the frequencies still follow from the odd size.
        int even = size + size % 2;
        double stretched = even == size ? base : Math.pow(base, (double) even / size);
        if (even > headSize
                || (even != size && given.text("rope_type", "default").equals("yarn"))) {
            throw config.refusal("the rotary part of a head has " + size + " elements; it must be even");
        }
        return new Rope(stretched, even, scaling(given, config, context));
    }

    /** Returns the section with the scaling, or the file itself, which has no scaling, if there is none. */
    private static ConfigJson section(ConfigJson config) {
        ConfigJson given = config.section("rope_scaling")
                .or(() -> config.section("rope_parameters"))
                .orElse(config);
        for (String layers : List.of("full_attention", "sliding_attention")) {
            if (given.isSet(layers)) {
                throw given.refusal(layers + " is set; models of this type have the same RoPE in all layers");
            }
        }
        return given;
    }

    private static Scaling scaling(ConfigJson rope, ConfigJson config, int context) {
        String type = rope.text("rope_type", rope.text("type", "default"));
        return switch (type) {
            case "default" -> new Scaling.None();
            case "linear" -> new Scaling.Linear(rope.number("factor"));
            case "llama3" -> byWavelength(rope, original(rope, config, context));
            case "yarn" -> yarn(rope, original(rope, config, context));
            default ->
                throw rope.refusal("rope_type is \"" + type + "\"; supported are default, linear, llama3 and yarn");
        };
    }

    /**
     * Returns the context length after scaling, by vLLM's rule: the original context times the factor with YaRN,
     * {@code max_position_embeddings} times the factor with linear scaling. Adds a warning if it differs from
     * {@code max_position_embeddings}.
     *
     * @param unscaled {@code max_position_embeddings}
     */
    static int context(ConfigJson config, Rope rope, int unscaled) {
        double scaled =
                switch (rope.scaling()) {
                    case Scaling.Yarn yarn -> yarn.originalContext() * yarn.factor();
                    case Scaling.Linear linear -> unscaled * linear.factor();
                    case Scaling.None none -> unscaled;
                    case Scaling.ByWavelength llama3 -> unscaled;
                };
        if (scaled < 1 || scaled > Limits.MODEL_DIMENSION) {
            throw config.refusal("the RoPE scaling gives a context of " + scaled + " tokens; allowed are 1 to "
                    + Limits.MODEL_DIMENSION + ", so correct its factor");
        }
        int context = (int) scaled;
        if (context != unscaled) {
            config.warn("the context is " + context + " tokens by its RoPE scaling (max_position_embeddings is "
                    + unscaled + "); max_model_len shortens it");
        }
        return context;
    }

    /** Returns the context length of training; some files have it outside the section. */
    private static int original(ConfigJson rope, ConfigJson config, int context) {
        int original = config.dimension(ORIGINAL, rope.dimension(ORIGINAL, context));
        if (rope.dimension(ORIGINAL, original) != original) {
            throw rope.refusal(ORIGINAL + " is " + rope.dimension(ORIGINAL) + ", but " + original
                    + " outside this section; remove the wrong one");
        }
        return original;
    }

    private static Scaling byWavelength(ConfigJson rope, int original) {
        double low = rope.number("low_freq_factor");
        double high = rope.number("high_freq_factor");
        if (low >= high) {
            throw rope.refusal("low_freq_factor is " + low + " and high_freq_factor is " + high
                    + "; the first must be below the second");
        }
        return new Scaling.ByWavelength(rope.number("factor"), low, high, original);
    }

    private static Scaling yarn(ConfigJson rope, int original) {
        double factor = rope.number("factor");
        double plain = rope.isSet("mscale") && rope.isSet("mscale_all_dim")
                ? sharpness(factor, rope.number("mscale")) / sharpness(factor, rope.number("mscale_all_dim"))
                : sharpness(factor, 1);
        return new Scaling.Yarn(
                factor,
                rope.number("beta_fast", 32),
                rope.number("beta_slow", 1),
                original,
                rope.number("attention_factor", plain),
                rope.flag("truncate", true));
    }

    private static double sharpness(double factor, double scale) {
        return factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1;
    }
}
