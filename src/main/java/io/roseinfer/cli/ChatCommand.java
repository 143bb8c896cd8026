package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.cli.flags.GenerationConfigFlag;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.PromptConverter;
import io.roseinfer.cli.flags.SamplingFlags;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.scheduler.SchedulerOptions;
import java.time.InstantSource;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "chat",
        description =
                "Chat with a model, one line at a time. /reset clears the conversation, /system TEXT also sets a system prompt, /exit"
                        + " quits; Ctrl-C stops an answer.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
@Heading("Conversation")
final class ChatCommand implements io.roseinfer.cli.terminal.Command {
    @Mixin
    private ModelFlags model = new ModelFlags();

    @Option(
            names = "--system",
            paramLabel = "<TEXT>",
            converter = PromptConverter.class,
            description = "System prompt.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> system = Optional.empty();

    @Option(
            names = "--max-new-tokens",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum tokens per answer (default: the rest of the context).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> maxNewTokens = Optional.empty();

    @Mixin
    private SamplingFlags sampling = new SamplingFlags();

    @Mixin
    private GenerationConfigFlag generationConfig = new GenerationConfigFlag();

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder().maxBatchSize(1).build());
        model.requireTokenizer();
        try (LoadedModel loaded = model.load(options, terminal)) {
            PromptRenderer prompts = PromptRenderer.of(loaded, InstantSource.system());
            SamplingDefaults defaults = generationConfig.of(loaded);
            int context = loaded.spec().contextLength();
            GenerationRequest first = GenerationRequest.ofTokens(0)
                    .withSampling(sampling.params(defaults, spec, terminal))
                    .withSeed(sampling.seed())
                    .withMaxNewTokens(
                            maxNewTokens.orElse(defaults.maxNewTokens().orElse(context)));
            if (loaded.spec().name().equals("builtin:tiny")) {
                terminal.note("builtin:tiny writes stories and does not answer; --model builtin:chat does");
            }
            loaded.warmUp(terminal.clock());
            try (Engine engine = loaded.serve(options, terminal.clock())) {
                new ChatSession(engine, prompts, first, terminal).run(system);
            }
        }
        return 0;
    }
}
