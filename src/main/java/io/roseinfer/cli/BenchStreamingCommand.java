package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.backend.StepProfiler;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.JsonReport;
import io.roseinfer.bench.ResultFile;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.StreamingBenchmark;
import io.roseinfer.bench.StreamingReport;
import io.roseinfer.bench.SubmitSchedule;
import io.roseinfer.bench.TimelineTrace;
import io.roseinfer.bench.Workload;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "streaming",
        description = "Submit requests to an engine on a schedule and report where their time went.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nroseinfer bench scheduler --help and roseinfer bench model --help show the other benchmarks.")
final class BenchStreamingCommand implements io.roseinfer.cli.Command {
    /** Steps per run that a timeline can have; the records of as many take 14 MB. */
    private static final int TIMELINE_STEPS = 1 << 17;

    @Mixin
    private ModelOptions model = new ModelOptions();

    @Mixin
    private WorkloadOptions workload = new WorkloadOptions();

    @Option(
            names = "--max-new-tokens",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Most tokens to generate per request.")
    private int maxNewTokens = 16;

    @Option(names = "--pretok", description = "Tokenize all prompts before the clock starts.")
    private boolean pretok;

    @Option(
            names = "--submit-interval-ms",
            paramLabel = "<MS>",
            converter = Ranges.Millis.class,
            description = "Milliseconds between requests; 0 submits them in one burst.")
    private double submitIntervalMillis;

    @Option(
            names = "--submit-schedule",
            paramLabel = "<relative|absolute>",
            converter = Choices.Schedule.class,
            description = "relative waits after each submit; absolute submits request i at start + i * interval.")
    private SubmitSchedule.Mode submitSchedule = SubmitSchedule.Mode.RELATIVE;

    @Mixin
    private DeliveryFlags delivery = new DeliveryFlags();

    @Mixin
    private SchedulerFlags scheduler = new SchedulerFlags();

    @Mixin
    private SamplingOptions sampling = new SamplingOptions();

    @Option(
            names = "--warmup-runs",
            paramLabel = "<N>",
            converter = Ranges.NotNegative.class,
            description = "Runs before those that count.")
    private int warmupRuns;

    @Option(
            names = "--repeat-runs",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Runs that count.")
    private int repeatRuns = 1;

    @Option(
            names = "--json",
            paramLabel = "<FILE>",
            description = "Write every request's stamps to a file; .zst compresses it.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> json = Optional.empty();

    @Option(
            names = "--timeline",
            paramLabel = "<FILE>",
            description =
                    "Write every step and every request to a trace that ui.perfetto.dev opens; .zst compresses it.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> timeline = Optional.empty();

    @Option(
            names = "--profile-ops",
            description = "Tell where the steps' time went, operator by operator, prefill and decode apart (cpu).")
    private boolean profileOps;

    @Option(names = "--print-ids", description = "Put the generated token ids into the JSON file.")
    private boolean printIds;

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        if (printIds && json.isEmpty()) {
            throw new BadInput("--print-ids has nowhere to write to; add --json FILE");
        }
        if (json.isPresent() && json.equals(timeline)) {
            throw new BadInput("--json and --timeline both name " + json.get() + "; give each a file of its own");
        }
        Optional<ResultFile> results = json.map(path -> ResultFile.at("--json", path));
        Optional<ResultFile> trace = timeline.map(path -> ResultFile.at("--timeline", path));
        SubmitSchedule schedule = new SubmitSchedule(submitSchedule, submitIntervalMillis);
        Workload requests = workload.workload(maxNewTokens, sampling.params(terminal));
        EngineOptions options = withTimeline(delivery.addTo(scheduler.engineOptions(sampling.seed(), terminal)));
        try (LoadedModel loaded = model.load(options, terminal)) {
            ModelOptions.Features features = model.features(loaded, terminal);
            Workload prepared = pretok ? requests.pretokenized(tokenizer(loaded)::encode) : requests;
            StreamingReport report = new StreamingReport(setup(loaded, features), schedule);
            RunPrinter printer = new RunPrinter(report, terminal);
            StreamingBenchmark benchmark = new StreamingBenchmark(
                    () -> Engine.open(loaded.runner(), loaded.tokenizer(), loaded.fitting(options), terminal.clock()),
                    prepared,
                    schedule,
                    terminal.clock(),
                    printer);
            if (profileOps) {
                benchmark = benchmark.withProfiler(profiler(loaded, terminal));
            }
            List<RunResult> runs = benchmark.run(warmupRuns, repeatRuns);
            results.ifPresent(file -> file.write(new JsonReport(printIds)
                    .of(settings(spec, loaded, features), Machine.here().environment(terminal), runs)));
            trace.ifPresent(file -> writeTimeline(file, runs, terminal));
        }
        return 0;
    }

    private static StepProfiler profiler(LoadedModel loaded, Terminal terminal) {
        return loaded.runner()
                .profile(terminal.clock())
                .orElseThrow(() -> new BadInput("--profile-ops: " + loaded.device()
                        + " cannot time its operators; only cpu can, so add --device cpu or leave the flag out"));
    }

    private EngineOptions withTimeline(EngineOptions options) {
        return timeline.isEmpty() ? options : options.withStepHistory(TIMELINE_STEPS);
    }

    private static void writeTimeline(ResultFile file, List<RunResult> runs, Terminal terminal) {
        if (runs.stream().anyMatch(run -> TimelineTrace.droppedSteps(run) > 0)) {
            terminal.note("--timeline has the last " + TIMELINE_STEPS + " steps of each run; make the runs shorter");
        }
        file.write(out -> TimelineTrace.write(out, runs));
    }

    private static Tokenizer tokenizer(LoadedModel loaded) {
        return loaded.tokenizer()
                .orElseThrow(() -> new BadInput("--pretok needs a tokenizer, and "
                        + loaded.spec().name() + " has none; put tokenizer.json beside its weights"));
    }

    private StreamingReport.Setup setup(LoadedModel loaded, ModelOptions.Features features) {
        return new StreamingReport.Setup(
                model.model(),
                loaded.device(),
                pretok,
                delivery.tokenizeWorkers(),
                delivery.streamInterval(),
                features.pagedAttention(),
                features.cudaGraph(),
                features.nvtx());
    }

    /** The flags, with what {@code auto} and the device made of them. */
    private static Map<String, @Nullable Object> settings(
            CommandSpec spec, LoadedModel loaded, ModelOptions.Features features) {
        Map<String, @Nullable Object> settings = FlagValues.of(spec);
        settings.put("device", loaded.device());
        settings.put("paged_attn", features.pagedAttention());
        settings.put("cuda_graph", features.cudaGraph());
        settings.put("nvtx", features.nvtx());
        settings.put("batch_invariant", features.batchInvariant());
        return settings;
    }
}
