package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.bench.RunListener.Phase;
import io.roseinfer.bench.SchedulerBenchmark;
import io.roseinfer.bench.SchedulerBenchmark.SchedulerListener;
import io.roseinfer.bench.SchedulerRun;
import io.roseinfer.bench.StepCost;
import io.roseinfer.bench.load.Prompts;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.SchedulerReport;
import io.roseinfer.bench.report.SchedulerResult;
import io.roseinfer.bench.report.StepCostResult;
import io.roseinfer.bench.report.StreamingReport;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.JsonFlag;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.Place;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.flags.SamplingFlags;
import io.roseinfer.cli.flags.SchedulerFlags;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.flags.StepCostFlags;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.flags.WorkloadFlags;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingDefaults;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "scheduler",
        description = {
            "Benchmark the scheduler driven directly: no queue, no streams, no engine thread.",
            "With --backend sim and no --mode: measure the scheduler's own time per step, without a model."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
@Heading("Measurement")
final class BenchSchedulerCommand implements io.roseinfer.cli.terminal.Command {
    private static final List<String> ON_SIM_ALONE = List.of("--running", "--waiting", "--steps");

    private static final Set<String> ON_SIM = Set.of(
            "--backend",
            "--device",
            "--running",
            "--waiting",
            "--steps",
            "--block-size",
            "--prefill-max-batch-size",
            "--prefill-admission-policy",
            "--prefill-admission-lookahead",
            "--prefill-force-fifo-every",
            "--decode-first",
            "--chunked-prefill",
            "--no-prefix-cache",
            "--json",
            "--report",
            "--title",
            "--csv");

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Option(
            names = "--backend",
            paramLabel = "<auto|cpu|cuda[:N]|sim|CLASS|FILE.java[:ARG]>",
            converter = Place.Parser.class,
            description = "Same as --device.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Place> backend = Optional.empty();

    @Mixin
    private StepCostFlags cost = new StepCostFlags();

    @Mixin
    private WorkloadFlags workload = new WorkloadFlags();

    @Option(
            names = "--mode",
            paramLabel = "<online|offline|naive>",
            description = {
                "online prefills requests one by one, offline in batches; naive never batches",
                "(default: online; on sim, the scheduler's time per step)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<SchedulerBenchmark.Mode> mode = Optional.empty();

    @Heading("Load")
    @Option(
            names = "--max-new-tokens",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum tokens to generate per request.")
    @Within(min = 1)
    private int maxNewTokens = 100;

    @Mixin
    private SchedulerFlags scheduler = new SchedulerFlags();

    @Mixin
    private SamplingFlags sampling = new SamplingFlags();

    @Option(
            names = "--warmup-runs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Warm-up runs.")
    @Within(min = 0)
    private int warmupRuns = 1;

    @Option(
            names = "--repeat-runs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Measured runs.")
    @Within(min = 1)
    private int repeatRuns = 3;

    @Mixin
    private JsonFlag json = new JsonFlag();

    @Mixin
    private ReportFlags pages = new ReportFlags();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        Optional<ResultFile> results = json.file();
        pages.check(results.stream().toList());
        EngineOptions options = scheduler.engineOptions(sampling.seed(), terminal);
        backend.ifPresent(model::alsoNamed);
        if (model.isSimulated() && mode.isEmpty()) {
            ExplicitFlags.tellOthersWithoutEffect(
                    command, ON_SIM, "the scheduler's time per step is measured without a model", terminal);
            runCost(command, options, results, terminal);
        } else {
            for (String flag : ON_SIM_ALONE) {
                ExplicitFlags.tellWithoutEffect(command, flag, "it requires --backend sim without --mode", terminal);
            }
            runModes(command, options, results, terminal);
        }
        return 0;
    }

    private void runCost(CommandSpec command, EngineOptions options, Optional<ResultFile> results, Terminal terminal) {
        Map<String, @Nullable Object> settings = SettingsInForce.withoutModel(command, options);
        Environment environment = Machine.here().environment(terminal);
        try (IncrementalFile<StepCost> file = new IncrementalFile<>(
                results, (to, costs) -> to.write(StepCostResult.of(settings, environment, costs)))) {
            cost.run(options, terminal, file::add);
            pages.write("scheduler", () -> StepCostResult.of(settings, environment, file.parts()));
        }
    }

    private void runModes(CommandSpec command, EngineOptions options, Optional<ResultFile> results, Terminal terminal) {
        SchedulerBenchmark.Mode drive = mode.orElse(SchedulerBenchmark.Mode.ONLINE);
        GenerationRequest template =
                workload.template(maxNewTokens, sampling.params(SamplingDefaults.NONE, command, terminal));
        Function<ModelSpec, List<Prompt>> prompts = workload.prompts(command);
        try (LoadedModel loaded = model.load(options, terminal)) {
            loaded.warmUp(terminal.clock());
            Map<String, @Nullable Object> settings = new SettingsInForce(loaded, options).all(command, model);
            settings.put("mode", drive.toString());
            Environment environment = Machine.here()
                    .environment(loaded, terminal)
                    .withPolicies(Machine.policies(options.scheduler().policies()));
            try (IncrementalFile<SchedulerRun> file = new IncrementalFile<>(
                    results, (to, runs) -> to.write(SchedulerResult.of(settings, environment, drive, runs)))) {
                List<GenerationRequest> requests = tokenized(prompts.apply(loaded.spec()), loaded).stream()
                        .map(template::withPrompt)
                        .toList();
                List<SchedulerRun> runs = new SchedulerBenchmark(
                                loaded.runner(),
                                options.scheduler(),
                                requests,
                                sampling.seed(),
                                terminal.clock(),
                                loaded.profiler())
                        .run(drive, warmupRuns, repeatRuns, listener(file, terminal));
                terminal.print(SchedulerReport.text(drive, warmupRuns, runs) + WarmUpLine.of(loaded));
                pages.write("scheduler", () -> SchedulerResult.of(settings, environment, drive, runs));
            }
        }
    }

    private List<Prompt> tokenized(List<Prompt> prompts, LoadedModel loaded) {
        return workload.isTokenIds()
                ? prompts
                : prompts.stream()
                        .map(Prompts.tokenized(TextPrompts.tokenizer(loaded)::encodePrompt))
                        .toList();
    }

    private static SchedulerListener listener(IncrementalFile<SchedulerRun> file, Terminal terminal) {
        return new SchedulerListener() {
            @Override
            public void started(Phase phase, int number, int of) {
                if (phase == Phase.WARMUP) {
                    terminal.print(StreamingReport.warmupBanner(number, of));
                }
            }

            @Override
            public void measured(SchedulerRun run) {
                file.add(run);
            }
        };
    }
}
