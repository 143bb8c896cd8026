package io.roseinfer.cli.flags;

import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.SamplingParams.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Flags for sampling. Greedy without {@code --do-sample}, regardless of other flags. */
@Heading("Sampling")
public final class SamplingFlags {
    @Option(names = "--do-sample", description = "Sample instead of decoding greedily.")
    private boolean doSample;

    @Option(
            names = "--temperature",
            paramLabel = "<T>",
            preprocessor = Within.Check.class,
            description = "Sampling temperature; 0 is greedy.")
    @Within(min = 0, max = SamplingParams.MAX_TEMPERATURE)
    private float temperature = 1;

    @Option(
            names = "--top-k",
            paramLabel = "<K>",
            preprocessor = Within.Check.class,
            description = "Sample from the K most likely tokens; 0 is all.")
    @Within(min = 0)
    private int topK;

    @Option(
            names = "--top-p",
            paramLabel = "<P>",
            preprocessor = Within.Check.class,
            description = "Sample from the most likely tokens whose probabilities add up to P.")
    @Within(above = 0, max = 1)
    private float topP = 1;

    @Option(
            names = "--min-p",
            paramLabel = "<P>",
            preprocessor = Within.Check.class,
            description = "Exclude tokens less likely than P times the most likely one.")
    @Within(min = 0, below = 1)
    private float minP;

    @Option(
            names = "--repetition-penalty",
            paramLabel = "<R>",
            preprocessor = Within.Check.class,
            description = "Divide positive and multiply negative logits of tokens in the prompt and output; 1 is off.")
    @Within(min = SamplingParams.MIN_REPETITION_PENALTY, max = SamplingParams.MAX_REPETITION_PENALTY)
    private float repetitionPenalty = 1;

    @Option(
            names = "--presence-penalty",
            paramLabel = "<A>",
            preprocessor = Within.Check.class,
            description = "Value to subtract once from the logits of generated tokens.")
    @Within(min = -SamplingParams.MAX_PENALTY, max = SamplingParams.MAX_PENALTY)
    private float presencePenalty;

    @Option(
            names = "--frequency-penalty",
            paramLabel = "<A>",
            preprocessor = Within.Check.class,
            description = "Value to subtract from the logits of generated tokens for each occurrence.")
    @Within(min = -SamplingParams.MAX_PENALTY, max = SamplingParams.MAX_PENALTY)
    private float frequencyPenalty;

    @Option(names = "--seed", paramLabel = "<S>", description = "Random seed.")
    private long seed;

    public long seed() {
        return seed;
    }

    /**
     * Returns the model's defaults, overridden by the given flags. Without {@code --do-sample} the result is greedy unless the defaults
     * sample; with it, only the defaults of penalties apply.
     */
    public SamplingParams params(SamplingDefaults defaults, CommandSpec command, Terminal terminal) {
        boolean isRecommended = defaults.requestsSampling() && !doSample;
        boolean draws = defaults.requestsSampling() || doSample;
        SamplingParams params =
                isRecommended ? defaults.params() : doSample ? SamplingParams.random() : SamplingParams.greedy();
        for (Parameter parameter : Parameter.values()) {
            if (ExplicitFlags.has(command, parameter.flag()) && (draws || !parameter.needsDraw())) {
                params = parameter.set(params, value(parameter));
            } else if (!parameter.needsDraw()) {
                params = parameter.set(params, parameter.of(defaults.params()));
            }
        }
        if (isRecommended) {
            terminal.note(
                    "sampling with the model's generation_config.json; --generation-config none decodes greedily");
        } else if (!doSample) {
            noteUnused(terminal);
        }
        return params;
    }

    private void noteUnused(Terminal terminal) {
        List<Parameter> unused =
                Arrays.stream(Parameter.values()).filter(Parameter::needsDraw).toList();
        if (unused.stream().anyMatch(each -> value(each) != each.of(SamplingParams.random()))) {
            String flags = unused.stream().map(Parameter::flag).collect(Collectors.joining(", "));
            int last = flags.lastIndexOf(", ");
            terminal.note(flags.substring(0, last) + " and" + flags.substring(last + 1)
                    + " have no effect without --do-sample");
        }
        if (seed != 0) {
            terminal.note("--seed has no effect without --do-sample");
        }
    }

    private double value(Parameter parameter) {
        return switch (parameter) {
            case TEMPERATURE -> temperature;
            case TOP_K -> topK;
            case TOP_P -> topP;
            case MIN_P -> minP;
            case REPETITION_PENALTY -> repetitionPenalty;
            case PRESENCE_PENALTY -> presencePenalty;
            case FREQUENCY_PENALTY -> frequencyPenalty;
        };
    }
}
