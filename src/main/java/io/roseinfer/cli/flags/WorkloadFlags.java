package io.roseinfer.cli.flags;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.Prompts;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Flags for the prompts and lengths of a benchmark's requests. */
@Heading("Load")
public final class WorkloadFlags {
    @Option(
            names = "--prompt",
            paramLabel = "<TEXT>",
            converter = PromptConverter.class,
            description = "Prompt of every request.")
    private String prompt = "Once upon a time";

    @Option(
            names = "--prompt-ids",
            paramLabel = "<ID[,ID...]>",
            converter = Numbers.Parser.class,
            preprocessor = Within.Check.class,
            description = "Prompt of every request as token ids, instead of --prompt; needs no tokenizer.",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 0)
    private Optional<Numbers> promptIds = Optional.empty();

    @Option(
            names = "--prompt-tokens",
            paramLabel = "<N[,N...]>",
            converter = Numbers.Parser.class,
            preprocessor = Within.Check.class,
            description =
                    "Different prompts of N random token ids, instead of --prompt; a list is cycled over the requests.",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1, max = Limits.PROMPT_CHARS)
    private Optional<Numbers> promptTokens = Optional.empty();

    @Option(
            names = "--prompt-repeats",
            paramLabel = "<R[,R...]>",
            converter = Numbers.Parser.class,
            preprocessor = Within.Check.class,
            description = "Repeat the prompt R times; a list is cycled over the requests.")
    @Within(min = 1)
    private Numbers promptRepeats = Numbers.of(1);

    @Option(names = "--unique-prompts", description = "Append \" [i]\" to the prompt of request i.")
    private boolean uniquePrompts;

    @Option(
            names = "--num-requests",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Requests per run.")
    @Within(min = 1)
    private int numRequests = 16;

    @Option(names = "--no-stop-on-eos", description = "Continue after the end-of-text token.")
    private boolean noStopOnEos;

    /** Returns whether the prompts are token ids, so that nothing is tokenized. */
    public boolean isTokenIds() {
        return promptIds.isPresent() || promptTokens.isPresent();
    }

    /** Returns the number of requests per run. */
    public int numRequests() {
        return numRequests;
    }

    /** Returns the template of all requests; the prompt is replaced. */
    public GenerationRequest template(int maxNewTokens, SamplingParams sampling) {
        return GenerationRequest.of(prompt)
                .withMaxNewTokens(maxNewTokens)
                .withSampling(sampling)
                .withIgnoreEndOfText(noStopOnEos);
    }

    /**
     * Returns a function that makes the prompts of one run for a model. Invalid flags are rejected immediately, before a model is loaded.
     *
     * @throws BadInput if flags contradict each other
     */
    public Function<ModelSpec, List<Prompt>> prompts(CommandSpec command) {
        requireOnePrompt(command);
        if (promptTokens.isPresent()) {
            List<Integer> lengths = promptTokens.get().values();
            return spec -> Prompts.randomTokens(fitting(lengths, spec), numRequests, spec.vocabularySize());
        }
        List<Prompt> prompts = promptIds
                .map(ids -> Prompts.tokens(ids.toArray(), promptRepeats.values(), numRequests))
                .orElseGet(() -> Prompts.texts(prompt, promptRepeats.values(), uniquePrompts, numRequests));
        return spec -> prompts;
    }

    /** Returns the lengths if the model's context has room for them; rejects others. */
    private static List<Integer> fitting(List<Integer> lengths, ModelSpec spec) {
        int longest = Collections.max(lengths);
        if (longest >= spec.contextLength()) {
            throw new BadInput("--prompt-tokens is " + longest + "; the model's context of " + spec.contextLength()
                    + " tokens has room for prompts of up to " + (spec.contextLength() - 1));
        }
        return lengths;
    }

    private void requireOnePrompt(CommandSpec command) {
        List<String> given = Stream.of("--prompt", "--prompt-ids", "--prompt-tokens")
                .filter(flag -> ExplicitFlags.has(command, flag))
                .toList();
        if (given.size() > 1) {
            throw new BadInput(String.join(" and ", given) + " are mutually exclusive; give one of them");
        }
        if (uniquePrompts && promptIds.isPresent()) {
            throw new BadInput("--unique-prompts appends text and --prompt-ids are token ids; leave one out");
        }
        if (promptTokens.isPresent() && (uniquePrompts || ExplicitFlags.has(command, "--prompt-repeats"))) {
            throw new BadInput("--prompt-tokens already makes unique prompts of the given lengths; leave out "
                    + (uniquePrompts ? "--unique-prompts" : "--prompt-repeats"));
        }
    }
}
