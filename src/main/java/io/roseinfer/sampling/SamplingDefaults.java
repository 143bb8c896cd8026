package io.roseinfer.sampling;

import io.roseinfer.sampling.SamplingParams.Parameter;
import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * How a model's authors want tokens chosen where nobody says otherwise, from {@code generation_config.json}.
 *
 * @param params what the file leaves out has no effect in them
 * @param maxNewTokens the most tokens of a completion, if the file says
 * @param doSample whether transformers would sample with them; vLLM does not look at that, nor does a server
 */
public record SamplingDefaults(SamplingParams params, OptionalInt maxNewTokens, boolean doSample) {
    /** Those of a model that says nothing: the unmodified distribution. */
    public static final SamplingDefaults NONE =
            new SamplingDefaults(SamplingParams.random(), OptionalInt.empty(), true);

    public SamplingDefaults {
        Objects.requireNonNull(params, "params");
        Objects.requireNonNull(maxNewTokens, "maxNewTokens");
    }

    /** Returns whether the file asks for sampling and says how, as opposed to penalties and lengths alone. */
    public boolean draws() {
        return doSample
                && !params.isGreedy()
                && Arrays.stream(Parameter.values())
                        .anyMatch(each -> each.needsDraw() && each.of(params) != each.of(SamplingParams.random()));
    }
}
