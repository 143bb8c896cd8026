package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.PromptPlan;
import io.roseinfer.bench.load.Workload;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The flags that say what a benchmark's requests ask for. */
public final class WorkloadFlags {
    @Option(
            names = "--prompt",
            paramLabel = "<TEXT>",
            converter = PromptConverter.class,
            description = "What every request continues.")
    private String prompt = "Once upon a time";

    @Option(
            names = "--prompt-ids",
            paramLabel = "<ID[,ID...]>",
            converter = Ranges.TokenIds.class,
            description = "What every request continues, as token ids instead of --prompt; needs no tokenizer.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Ranges.Numbers> promptIds = Optional.empty();

    @Option(
            names = "--prompt-repeats",
            paramLabel = "<R[,R...]>",
            converter = Ranges.PositiveList.class,
            description = "Repeat the prompt R times; a list is cycled over the requests.")
    private Ranges.Numbers promptRepeats = Ranges.Numbers.of(1);

    @Option(names = "--unique-prompts", description = "End request i's prompt in \" [i]\".")
    private boolean uniquePrompts;

    @Option(
            names = "--num-requests",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Requests per run.")
    private int numRequests = 16;

    @Option(names = "--no-stop-on-eos", description = "Generate on after the end-of-text token.")
    private boolean noStopOnEos;

    /** Whether the prompts are token ids, so that nothing is tokenized. */
    public boolean isTokenIds() {
        return promptIds.isPresent();
    }

    /** The requests of one run, all of the same length and sampling. */
    public Workload workload(int maxNewTokens, SamplingParams sampling, CommandSpec command) {
        if (promptIds.isPresent() && GivenFlags.has(command, "--prompt")) {
            throw new BadInput("--prompt and --prompt-ids are mutually exclusive; give one of them");
        }
        GenerationRequest template = GenerationRequest.of(prompt)
                .withMaxNewTokens(maxNewTokens)
                .withSampling(sampling)
                .withIgnoreEndOfText(noStopOnEos);
        return promptIds
                .map(ids -> ofTokens(ids, template))
                .orElseGet(() -> Workload.of(
                        new PromptPlan(prompt, promptRepeats.values(), uniquePrompts).texts(numRequests), template));
    }

    private Workload ofTokens(Ranges.Numbers ids, GenerationRequest template) {
        if (uniquePrompts) {
            throw new BadInput("--unique-prompts ends a text in a number and --prompt-ids are no text; leave one out");
        }
        return Workload.ofTokens(ids.toArray(), promptRepeats.values(), numRequests, template);
    }
}
