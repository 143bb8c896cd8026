package io.roseinfer.sampling;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * How a model's authors want tokens chosen where nobody says otherwise, from {@code generation_config.json}.
 *
 * @param params what the file leaves out has no effect in them
 * @param maxNewTokens the most tokens of a completion, if the file says
 */
public record SamplingDefaults(SamplingParams params, OptionalInt maxNewTokens) {
    /** Those of a model that says nothing: the unmodified distribution. */
    public static final SamplingDefaults NONE = new SamplingDefaults(SamplingParams.random(), OptionalInt.empty());

    public SamplingDefaults {
        Objects.requireNonNull(params, "params");
        Objects.requireNonNull(maxNewTokens, "maxNewTokens");
    }

    /** Whether the file says how tokens are to be drawn, as opposed to penalties and lengths alone. */
    public boolean draws() {
        return !params.withRepetitionPenalty(1).equals(SamplingParams.random());
    }
}
