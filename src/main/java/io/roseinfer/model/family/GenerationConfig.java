package io.roseinfer.model.family;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;

/** The defaults of {@code generation_config.json}: the six fields that vLLM takes. One that is out of range is told and ignored. */
final class GenerationConfig {
    private final ConfigJson file;
    private final String source;
    private final List<String> warnings;

    private GenerationConfig(ConfigJson file, String source, List<String> warnings) {
        this.file = file;
        this.source = source;
        this.warnings = warnings;
    }

    static SamplingDefaults read(ConfigJson file, String source, List<String> warnings) {
        GenerationConfig config = new GenerationConfig(file, source, warnings);
        SamplingParams params = SamplingParams.random();
        params = config.field("temperature", params, params::withTemperature);
        params = config.field("top_p", params, params::withTopP);
        params = config.field("min_p", params, params::withMinP);
        params = config.field("repetition_penalty", params, params::withRepetitionPenalty);
        SamplingParams last = params;
        params = config.field("top_k", params, value -> last.withTopK(Math.max(0, Math.round(value))));
        return new SamplingDefaults(params, config.maxNewTokens());
    }

    private SamplingParams field(String name, SamplingParams absent, Function<Float, SamplingParams> with) {
        if (!file.isSet(name)) {
            return absent;
        }
        try {
            return with.apply((float) file.number(name));
        } catch (BadInput outOfRange) {
            warnings.add(source + ": " + outOfRange.getMessage() + "; it is ignored");
        } catch (BadModel noNumber) {
            warnings.add(noNumber.getMessage() + "; it is ignored");
        }
        return absent;
    }

    private OptionalInt maxNewTokens() {
        try {
            double value = file.isSet("max_new_tokens") ? file.number("max_new_tokens") : 0;
            return value >= 1 ? OptionalInt.of((int) Math.min(value, Integer.MAX_VALUE)) : OptionalInt.empty();
        } catch (BadModel noNumber) {
            warnings.add(noNumber.getMessage() + "; it is ignored");
            return OptionalInt.empty();
        }
    }
}
