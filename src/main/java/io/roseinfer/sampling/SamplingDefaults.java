package io.roseinfer.sampling;

import io.roseinfer.sampling.SamplingParams.Parameter;
import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * A model's sampling defaults from {@code generation_config.json}.
 *
 * @param params the parameters; those missing in the file have no effect
 * @param maxNewTokens maximum tokens of a completion, if the file has it
 * @param doSample whether transformers would sample; vLLM and roseinfer's server ignore it
 */
public record SamplingDefaults(SamplingParams params, OptionalInt maxNewTokens, boolean doSample) {
    /** The defaults of a model without the file: the unmodified distribution. */
    public static final SamplingDefaults NONE =
            new SamplingDefaults(SamplingParams.random(), OptionalInt.empty(), true);

    public SamplingDefaults {
        Objects.requireNonNull(params, "params");
        Objects.requireNonNull(maxNewTokens, "maxNewTokens");
    }

    /** Returns whether the file asks for sampling and sets sampling parameters, not only penalties and lengths. */
    public boolean requestsSampling() {
        return doSample
                && !params.isGreedy()
                && Arrays.stream(Parameter.values())
                        .anyMatch(each -> each.needsDraw() && each.of(params) != each.of(SamplingParams.random()));
    }
}
