package io.roseinfer.cli.flags;

import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** How tokens are chosen. Greedy unless {@code --do-sample}, whatever else is given. */
public final class SamplingFlags {
    @Option(names = "--do-sample", description = "Draw tokens at random instead of taking the likeliest.")
    private boolean doSample;

    @Option(
            names = "--temperature",
            paramLabel = "<T>",
            preprocessor = Within.Check.class,
            description = "Divide logits by this before the draw; 0 is greedy.")
    @Within(min = 0, max = SamplingParams.MAX_TEMPERATURE)
    private float temperature = 1;

    @Option(
            names = "--top-k",
            paramLabel = "<K>",
            preprocessor = Within.Check.class,
            description = "Draw from the K likeliest tokens; 0 is all.")
    @Within(min = 0)
    private int topK;

    @Option(
            names = "--top-p",
            paramLabel = "<P>",
            preprocessor = Within.Check.class,
            description = "Draw from the likeliest tokens that together have probability P.")
    @Within(above = 0, max = 1)
    private float topP = 1;

    @Option(
            names = "--min-p",
            paramLabel = "<P>",
            preprocessor = Within.Check.class,
            description = "Leave out tokens less likely than P times the likeliest.")
    @Within(min = 0, below = 1)
    private float minP;

    @Option(
            names = "--repetition-penalty",
            paramLabel = "<R>",
            preprocessor = Within.Check.class,
            description = "Divide positive and multiply negative logits of tokens seen before; 1 is off.")
    @Within(min = SamplingParams.MIN_REPETITION_PENALTY, max = SamplingParams.MAX_REPETITION_PENALTY)
    private float repetitionPenalty = 1;

    @Option(
            names = "--presence-penalty",
            paramLabel = "<A>",
            preprocessor = Within.Check.class,
            description = "Subtract once from the logits of generated tokens.")
    @Within(min = -SamplingParams.MAX_PENALTY, max = SamplingParams.MAX_PENALTY)
    private float presencePenalty;

    @Option(
            names = "--frequency-penalty",
            paramLabel = "<A>",
            preprocessor = Within.Check.class,
            description = "Subtract per occurrence from the logits of generated tokens.")
    @Within(min = -SamplingParams.MAX_PENALTY, max = SamplingParams.MAX_PENALTY)
    private float frequencyPenalty;

    @Option(names = "--seed", paramLabel = "<S>", description = "Where the random streams start.")
    private long seed;

    public long seed() {
        return seed;
    }

    /** What the model's authors recommend, and over it the flags that are given; where they say nothing of drawing, as the flags alone. */
    public SamplingParams params(SamplingDefaults defaults, CommandSpec command, Terminal terminal) {
        if (!defaults.draws() || doSample) {
            SamplingParams alone = params(terminal);
            boolean given = GivenFlags.has(command, "--repetition-penalty");
            return given ? alone : alone.withRepetitionPenalty(defaults.params().repetitionPenalty());
        }
        SamplingParams params =
                defaults.params().withPresencePenalty(presencePenalty).withFrequencyPenalty(frequencyPenalty);
        params = GivenFlags.has(command, "--temperature") ? params.withTemperature(temperature) : params;
        params = GivenFlags.has(command, "--top-k") ? params.withTopK(topK) : params;
        params = GivenFlags.has(command, "--top-p") ? params.withTopP(topP) : params;
        params = GivenFlags.has(command, "--min-p") ? params.withMinP(minP) : params;
        terminal.note("drawing as the model's generation_config.json says; --generation-config none does not");
        return GivenFlags.has(command, "--repetition-penalty")
                ? params.withRepetitionPenalty(repetitionPenalty)
                : params;
    }

    /** Penalties count without {@code --do-sample} too: they change which token is the likeliest. */
    public SamplingParams params(Terminal terminal) {
        SamplingParams penalties = SamplingParams.greedy()
                .withRepetitionPenalty(repetitionPenalty)
                .withPresencePenalty(presencePenalty)
                .withFrequencyPenalty(frequencyPenalty);
        if (doSample) {
            return penalties
                    .withTemperature(temperature)
                    .withTopK(topK)
                    .withTopP(topP)
                    .withMinP(minP);
        }
        if (temperature != 1 || topK != 0 || topP != 1 || minP != 0) {
            terminal.note("--temperature, --top-k, --top-p and --min-p have no effect without --do-sample");
        }
        if (seed != 0) {
            terminal.note("--seed has no effect without --do-sample");
        }
        return penalties;
    }
}
