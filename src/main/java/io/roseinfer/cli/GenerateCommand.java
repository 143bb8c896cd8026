package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.flags.CustomObservers;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.GenerationConfigFlag;
import io.roseinfer.cli.flags.GrammarFlags;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.Numbers;
import io.roseinfer.cli.flags.ObserveFlag;
import io.roseinfer.cli.flags.PromptConverter;
import io.roseinfer.cli.flags.SamplingFlags;
import io.roseinfer.cli.flags.SpeculateFlag;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.tokenizer.Tokenizer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "generate",
        description = "Complete a prompt and stream the text.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
@Heading("Completion")
final class GenerateCommand implements io.roseinfer.cli.terminal.Command {
    @ArgGroup(multiplicity = "1")
    private PromptChoice prompt = new PromptChoice();

    /** The prompt: either text or token ids. */
    @Heading("Prompt")
    static final class PromptChoice {
        @Option(
                names = "--prompt",
                paramLabel = "<TEXT>",
                converter = PromptConverter.class,
                description = "Prompt text.",
                showDefaultValue = Visibility.NEVER)
        private Optional<String> text = Optional.empty();

        @Option(
                names = "--prompt-ids",
                paramLabel = "<ID[,ID...]>",
                converter = Numbers.Parser.class,
                preprocessor = Within.Check.class,
                description = "Prompt as token ids; needs no tokenizer.",
                showDefaultValue = Visibility.NEVER)
        @Within(min = 0)
        private Optional<Numbers> ids = Optional.empty();

        Prompt prompt() {
            return text.<Prompt>map(Prompt.Text::new)
                    .or(() -> ids.map(numbers -> new Prompt.Tokens(numbers.toArray())))
                    .orElseThrow(() -> new BadInput("--prompt or --prompt-ids is required"));
        }
    }

    @Heading("Prompt")
    @Option(names = "--chat", description = "Treat the prompt as a user message and apply the model's chat template.")
    private boolean chat;

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Option(
            names = "--max-new-tokens",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum tokens to generate.")
    @Within(min = 1)
    private int maxNewTokens = GenerationRequest.DEFAULT_NEW_TOKENS;

    @Mixin
    private SamplingFlags sampling = new SamplingFlags();

    @Mixin
    private GenerationConfigFlag generationConfig = new GenerationConfigFlag();

    @Option(
            names = "--stop",
            paramLabel = "<TEXT>",
            description = "Stop before this text; can be given up to " + GenerationRequest.MAX_STOP_STRINGS + " times.",
            showDefaultValue = Visibility.NEVER)
    private List<String> stop = new ArrayList<>();

    @Option(names = "--no-stop-on-eos", description = "Continue after the end-of-text token.")
    private boolean noStopOnEos;

    @Mixin
    private GrammarFlags grammar = new GrammarFlags();

    @Mixin
    private SpeculateFlag speculate = new SpeculateFlag();

    @Mixin
    private ObserveFlag observe = new ObserveFlag();

    @Heading("Output")
    @Option(names = "--json", description = "Print one JSON object on one line instead of the text.")
    private boolean json;

    @Heading("Output")
    @Option(
            names = "--logprobs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "With --json: log-probabilities of the tokens and of the N most likely ones at each position.",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 0, max = SamplingParams.MAX_LOGPROBS)
    private Optional<Integer> logprobs = Optional.empty();

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        GenerationRequest asked = request(terminal);
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(1)
                        .prefixCache(false)
                        .drafter(speculate.drafter())
                        .build());
        if (asked.prompt() instanceof Prompt.Text) {
            model.requireTokenizer();
        }
        try (CustomObservers observed = observe.open();
                LoadedModel loaded = model.load(options, terminal)) {
            if (asked.prompt() instanceof Prompt.Text) {
                Tokenizer unused = TextPrompts.tokenizer(loaded);
            }
            tellRandomWeights(loaded, terminal);
            GenerationRequest request = withDefaults(inConversation(asked, loaded), loaded, spec, terminal);
            try (Engine engine = loaded.serve(options, terminal.clock(), observed.observers());
                    TokenStream stream = engine.submit(request)) {
                boolean asText = loaded.tokenizer().isPresent();
                Interrupt.endsStream(stream, () -> print(stream, asText, terminal));
                if (request.constraints().grammar().isPresent()
                        && stream.finishReason()
                                .filter(FinishReason.LENGTH::equals)
                                .isPresent()) {
                    terminal.note("the text is incomplete: the maximum of " + request.maxNewTokens()
                            + " tokens cut it before its grammar's end; raise --max-new-tokens");
                }
            }
        }
        return 0;
    }

    /** Warns about random weights: their output still looks like text. */
    private void tellRandomWeights(LoadedModel loaded, Terminal terminal) {
        if (model.hasRandomWeights() && loaded.precision().isPresent()) {
            terminal.note("--model " + model.model() + " has random weights, so its text is meaningless");
        }
    }

    private GenerationRequest request(Terminal terminal) {
        if (logprobs.isPresent() && !json) {
            throw new BadInput("--logprobs requires --json; add it");
        }
        GenerationRequest request = GenerationRequest.of(prompt.prompt())
                .withMaxNewTokens(maxNewTokens)
                .withSeed(sampling.seed())
                .withStop(stop.toArray(String[]::new))
                .withIgnoreEndOfText(noStopOnEos);
        return grammar.grammar(terminal).map(request::withGrammar).orElse(request);
    }

    private GenerationRequest inConversation(GenerationRequest asked, LoadedModel loaded) {
        if (!chat) {
            return asked;
        }
        if (!(asked.prompt() instanceof Prompt.Text message)) {
            throw new BadInput("--chat needs a text message; give --prompt");
        }
        return asked.withPrompt(
                PromptRenderer.of(loaded, InstantSource.system()).of(message.text()));
    }

    private GenerationRequest withDefaults(
            GenerationRequest asked, LoadedModel loaded, CommandSpec spec, Terminal terminal) {
        SamplingDefaults defaults = generationConfig.of(loaded);
        SamplingParams params = sampling.params(defaults, spec, terminal).withLogprobs(logprobs.orElse(-1));
        boolean ownLength = ExplicitFlags.has(spec, "--max-new-tokens");
        return asked.withSampling(params)
                .withMaxNewTokens(
                        ownLength ? maxNewTokens : defaults.maxNewTokens().orElse(maxNewTokens));
    }

    private void print(TokenStream stream, boolean asText, Terminal terminal) {
        if (json) {
            terminal.print(CompletionJson.line(stream.completion(), logprobs.isPresent()));
        } else {
            printTokens(stream, asText, terminal);
        }
    }

    /** Prints text as it arrives, or space-separated token ids without a tokenizer, and a final newline. */
    private static void printTokens(TokenStream stream, boolean asText, Terminal terminal) {
        String separator = "";
        while (stream.hasNext()) {
            GeneratedToken token = stream.next();
            terminal.print(asText ? token.text() : separator + token.id());
            separator = " ";
        }
        terminal.print("\n");
    }
}
