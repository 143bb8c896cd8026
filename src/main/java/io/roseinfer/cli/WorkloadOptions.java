package io.roseinfer.cli;

import io.roseinfer.bench.PromptPlan;
import io.roseinfer.bench.Workload;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import picocli.CommandLine.Option;

/** What a benchmark's requests ask for. */
final class WorkloadOptions {
    @Option(
            names = "--prompt",
            paramLabel = "<TEXT>",
            converter = PromptConverter.class,
            description = "What every request continues.")
    private String prompt = "Once upon a time";

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

    Workload workload(int maxNewTokens, SamplingParams sampling) {
        PromptPlan plan = new PromptPlan(prompt, promptRepeats.values(), uniquePrompts);
        GenerationRequest template = GenerationRequest.of(prompt)
                .withMaxNewTokens(maxNewTokens)
                .withSampling(sampling)
                .withIgnoreEndOfText(noStopOnEos);
        return Workload.of(plan.texts(numRequests), template);
    }
}
