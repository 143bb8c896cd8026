package io.roseinfer.model.files;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.SamplingParams.Parameter;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Reads the defaults of {@code generation_config.json}: the six fields that vLLM reads, and {@code do_sample}.
 * Out-of-range values and unsupported fields are reported and ignored.
 */
final class GenerationConfig {
    /** Unsupported fields of transformers, with the value that has no effect, in addition to 0, false and empty. */
    private static final Map<String, Integer> UNSUPPORTED = Map.ofEntries(
            Map.entry("bad_words_ids", 0),
            Map.entry("begin_suppress_tokens", 0),
            Map.entry("constraints", 0),
            Map.entry("dola_layers", 0),
            Map.entry("encoder_no_repeat_ngram_size", 0),
            Map.entry("encoder_repetition_penalty", 1),
            Map.entry("epsilon_cutoff", 0),
            Map.entry("eta_cutoff", 0),
            Map.entry("exponential_decay_length_penalty", 0),
            Map.entry("force_words_ids", 0),
            Map.entry("forced_bos_token_id", 0),
            Map.entry("forced_eos_token_id", 0),
            Map.entry("min_length", 0),
            Map.entry("min_new_tokens", 0),
            Map.entry("penalty_alpha", 0),
            Map.entry("sequence_bias", 0),
            Map.entry("stop_strings", 0),
            Map.entry("suppress_tokens", 0),
            Map.entry("watermarking_config", 0));

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
        for (Parameter parameter : Parameter.values()) {
            params = parameter.isRecommended() ? config.with(parameter, params) : params;
        }
        config.warnOfUnsupported();
        return new SamplingDefaults(params, config.maxNewTokens(), config.doSample());
    }

    private void warnOfUnsupported() {
        List<String> given = Stream.of(UNSUPPORTED, SamplingParams.UNSUPPORTED)
                .flatMap(fields -> fields.entrySet().stream())
                .filter(field -> file.hasOtherThan(field.getKey(), field.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        if (!given.isEmpty()) {
            warnings.add(source + ": " + String.join(", ", given) + (given.size() == 1 ? " is" : " are")
                    + " not supported and ignored");
        }
    }

    private boolean doSample() {
        try {
            return file.flag("do_sample", true);
        } catch (BadModel noFlag) {
            warnings.add(noFlag.getMessage() + "; it is ignored");
            return true;
        }
    }

    private SamplingParams with(Parameter parameter, SamplingParams params) {
        if (!file.isSet(parameter.field())) {
            return params;
        }
        try {
            return parameter.set(params, file.anyNumber(parameter.field()));
        } catch (BadInput outOfRange) {
            warnings.add(source + ": " + outOfRange.getMessage() + "; it is ignored");
        } catch (BadModel noNumber) {
            warnings.add(noNumber.getMessage() + "; it is ignored");
        }
        return params;
    }

    private OptionalInt maxNewTokens() {
        try {
            double value = file.isSet("max_new_tokens") ? file.anyNumber("max_new_tokens") : 0;
            return value >= 1 ? OptionalInt.of((int) Math.min(value, Integer.MAX_VALUE)) : OptionalInt.empty();
        } catch (BadModel noNumber) {
            warnings.add(noNumber.getMessage() + "; it is ignored");
            return OptionalInt.empty();
        }
    }
}
