package io.roseinfer.cli;

import io.roseinfer.DeviceOptions;
import io.roseinfer.LoadedModel;
import io.roseinfer.backend.StepProfiler;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.StreamingBenchmark;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.Prompts;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.RunsReport;
import io.roseinfer.bench.report.StreamingReport;
import io.roseinfer.bench.report.StreamingResult;
import io.roseinfer.bench.report.TimelineTrace;
import io.roseinfer.cli.flags.ArrivalFlags;
import io.roseinfer.cli.flags.DatasetFlags;
import io.roseinfer.cli.flags.DeliveryFlags;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.flags.SamplingFlags;
import io.roseinfer.cli.flags.SchedulerFlags;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.flags.WorkloadFlags;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.OtherWork;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "streaming",
        description = "Submit requests to an engine on a schedule and report where their time is spent.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nSee also roseinfer bench serve --help, bench scheduler --help and bench model --help.")
@Heading("Output")
final class BenchStreamingCommand implements io.roseinfer.cli.terminal.Command {
    private static final int MAX_INTERVAL_MILLIS = 3_600_000;
    private static final double NANOS_PER_MILLI = 1e6;

    /** The reference point of the interval between requests. */
    private enum Schedule {
        /** The return of the previous submit call, as for a client that sends one request after the other. */
        RELATIVE(OfferedLoad.Pacing.AFTER_SENT),
        /** The start of the run: request i is due at start + i · interval, so the speed of the submit path does not affect the arrival rate. */
        ABSOLUTE(OfferedLoad.Pacing.SCHEDULED);

        private final OfferedLoad.Pacing pacing;

        Schedule(OfferedLoad.Pacing pacing) {
            this.pacing = pacing;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Maximum steps per run in a timeline; their records take 14 MB. */
    private static final int TIMELINE_STEPS = 1 << 17;

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Mixin
    private WorkloadFlags workload = new WorkloadFlags();

    @Heading("Load")
    @Option(
            names = "--max-new-tokens",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum tokens to generate per request.")
    @Within(min = 1)
    private int maxNewTokens = 16;

    @Heading("Load")
    @Option(names = "--pretok", description = "Tokenize all prompts before the clock starts.")
    private boolean pretok;

    @Heading("Load")
    @Option(
            names = "--submit-interval-ms",
            paramLabel = "<MS>",
            preprocessor = Within.Check.class,
            description = "Milliseconds between requests; 0 submits them in one burst.")
    @Within(min = 0, max = MAX_INTERVAL_MILLIS)
    private double submitIntervalMillis;

    @Heading("Load")
    @Option(
            names = "--submit-schedule",
            paramLabel = "<relative|absolute>",
            description = "relative waits after each submit; absolute submits request i at start + i * interval.")
    private Schedule submitSchedule = Schedule.RELATIVE;

    @Mixin
    private DatasetFlags dataset = new DatasetFlags();

    @Mixin
    private ArrivalFlags arrivals = new ArrivalFlags();

    @Mixin
    private DeliveryFlags delivery = new DeliveryFlags();

    @Mixin
    private SchedulerFlags scheduler = new SchedulerFlags();

    @Mixin
    private SamplingFlags sampling = new SamplingFlags();

    @Heading("Measurement")
    @Option(
            names = "--warmup-runs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "Warm-up runs (default: until two are equally fast and the JIT compilers idle, for at most 3 seconds).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 0)
    private Optional<Integer> warmupRuns = Optional.empty();

    @Heading("Measurement")
    @Option(
            names = "--repeat-runs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Measured runs.")
    @Within(min = 1)
    private int repeatRuns = 1;

    @Option(
            names = "--json",
            paramLabel = "<FILE>",
            description = "Write results, with every request's timestamps, to a file; .gz and .zst compress it.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> json = Optional.empty();

    @Mixin
    private ReportFlags pages = new ReportFlags();

    @Option(
            names = "--timeline",
            paramLabel = "<FILE>",
            description = "Write a trace of all steps and requests for ui.perfetto.dev; .gz and .zst compress it.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> timeline = Optional.empty();

    @Option(
            names = "--profile-ops",
            description = "Report time per operator, separately for prefill and decode (CPU only).")
    private boolean profileOps;

    @Option(names = "--print-ids", description = "Include the generated token ids in the --json file.")
    private boolean printIds;

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        if (printIds && json.isEmpty()) {
            throw new BadInput("--print-ids needs a file to write to; add --json FILE");
        }
        Optional<ResultFile> results = json.map(path -> ResultFile.at("--json", path));
        Optional<ResultFile> trace = timeline.map(path -> ResultFile.at("--timeline", path));
        pages.check(Stream.of(results, trace).flatMap(Optional::stream).toList());
        tellWithoutEffect(command, terminal);
        Function<ModelSpec, Offered> requests = requests(command, terminal);
        GenerationRequest template =
                workload.template(maxNewTokens, sampling.params(SamplingDefaults.NONE, command, terminal));
        EngineOptions options = withTimeline(delivery.addTo(scheduler.engineOptions(sampling.seed(), terminal)));
        try (LoadedModel loaded = model.load(options, terminal)) {
            loaded.warmUp(terminal.clock());
            SettingsInForce settings = new SettingsInForce(loaded, options);
            Offered offered = requests.apply(loaded.spec());
            OfferedLoad prepared = prepared(offered.load(), loaded);
            Map<String, @Nullable Object> flags = settings.all(command, model);
            Environment environment = Machine.here()
                    .environment(loaded, terminal)
                    .withPolicies(Machine.policies(options.scheduler().policies()))
                    .withPolicies(Machine.policies(List.of(model.routing())));
            String line = settings.line(flags, offered.words()) + "\n" + WarmUpLine.of(loaded);
            StreamingReport report = new StreamingReport(setup(loaded), offered.interval());
            Optional<StepProfiler> profiler = profileOps ? Optional.of(profiler(loaded, terminal)) : Optional.empty();
            StreamingBenchmark.Runs runs;
            try (RunFiles files = new RunFiles(
                    results, trace, (warmUp, done) -> StreamingResult.of(flags, environment, warmUp, done, printIds))) {
                StreamingBenchmark benchmark = new StreamingBenchmark(
                        () -> loaded.serve(
                                options.withScheduler(scheduler.scheduler()), model.routing(), terminal.clock()),
                        prepared,
                        template,
                        terminal.clock(),
                        new RunPrinter(report, line, files, terminal));
                profiler.ifPresent(benchmark::withProfiler);
                Optional<OtherWork> before = OtherWork.now();
                runs = benchmark.run(warmupRuns.map(OptionalInt::of).orElseGet(OptionalInt::empty), repeatRuns);
                if (!model.isSimulated()) {
                    before.flatMap(start -> OtherWork.now().flatMap(start::until))
                            .ifPresent(terminal::note);
                }
            }
            terminal.print(RunsReport.text(runs.measured()));
            pages.write(
                    "run",
                    () -> StreamingResult.of(
                            flags, environment, Optional.of(runs.warmUp()), runs.measured(), printIds));
            if (trace.isPresent() && runs.measured().stream().anyMatch(run -> TimelineTrace.droppedSteps(run) > 0)) {
                terminal.note(
                        "--timeline has only the last " + TIMELINE_STEPS + " steps of each run; shorter runs have all");
            }
        }
        return 0;
    }

    private static final List<String> OF_DATASETS = List.of(
            "--dataset-path",
            "--random-input-len",
            "--random-output-len",
            "--random-range-ratio",
            "--random-prefix-len",
            "--random-vocab-size",
            "--random-max-tokens",
            "--random-prediction-error",
            "--conversation-turns",
            "--think-time-s",
            "--tenant",
            "--clip-to");

    /**
     * A load and descriptions of its times.
     *
     * @param interval for the report; empty for a burst
     * @param words for the settings line
     */
    private record Offered(OfferedLoad load, String interval, String words) {
        /** Describes a load by the times of its requests. */
        static Offered ofTimes(OfferedLoad load) {
            if (load.spanNanos() == 0) {
                return burst(load.requests());
            }
            int gaps = Math.max(1, load.requests().size() - 1);
            double mean = Math.min(MAX_INTERVAL_MILLIS, load.spanNanos() / NANOS_PER_MILLI / gaps);
            return new Offered(
                    load,
                    String.format(Locale.ROOT, "%.3f ms on average / %s", mean, Schedule.ABSOLUTE),
                    String.format(Locale.ROOT, "at their own times, %.3f ms apart on average", mean));
        }

        static Offered ofInterval(double millis, Schedule schedule, List<OfferedRequest> requests) {
            return millis == 0
                    ? burst(requests)
                    : new Offered(
                            OfferedLoad.every(millis, requests, schedule.pacing),
                            String.format(Locale.ROOT, "%.3f ms / %s", millis, schedule),
                            "every " + millis + " ms (" + schedule + ")");
        }

        private static Offered burst(List<OfferedRequest> requests) {
            return new Offered(new OfferedLoad(requests, OfferedLoad.Pacing.BURST), "", "in a burst");
        }
    }

    /** Returns a function that makes the requests for a model. Invalid flags and files are rejected immediately, before a model is loaded. */
    private Function<ModelSpec, Offered> requests(CommandSpec command, Terminal terminal) {
        boolean timed = ExplicitFlags.has(command, "--dataset") || arrivals.isGiven(command);
        if (timed
                && (ExplicitFlags.has(command, "--submit-interval-ms")
                        || ExplicitFlags.has(command, "--submit-schedule"))) {
            throw new BadInput("--dataset and --request-rate set the times of requests; leave out --submit-interval-ms"
                    + " and --submit-schedule");
        }
        if (ExplicitFlags.has(command, "--dataset")) {
            return fromDataset(command, terminal);
        }
        for (String flag : OF_DATASETS) {
            if (ExplicitFlags.has(command, flag)) {
                throw new BadInput(flag + " requires a dataset; add --dataset random or another one");
            }
        }
        arrivals.requireConsistent(false, command);
        Function<ModelSpec, List<Prompt>> prompts = workload.prompts(command);
        return spec -> {
            List<OfferedRequest> requests = prompts.apply(spec).stream()
                    .map(prompt -> OfferedRequest.of(0, prompt, maxNewTokens))
                    .toList();
            return timed
                    ? Offered.ofTimes(OfferedLoad.of(requests, arrivals.arrivals(sampling.seed())))
                    : Offered.ofInterval(submitIntervalMillis, submitSchedule, requests);
        };
    }

    private Function<ModelSpec, Offered> fromDataset(CommandSpec command, Terminal terminal) {
        for (String flag : List.of("--prompt", "--prompt-ids", "--prompt-tokens", "--max-new-tokens")) {
            ExplicitFlags.tellWithoutEffect(command, flag, "--dataset sets prompts and lengths", terminal);
        }
        DatasetFlags.Source source =
                dataset.read(workload.numRequests(), sampling.seed(), arrivals.burstiness(), false);
        arrivals.requireConsistent(source.hasTimes(), command);
        return spec -> {
            DatasetFlags.Requests data = source.requests(spec.contextLength());
            if (!data.changes().isEmpty()) {
                terminal.note(data.changes());
            }
            return Offered.ofTimes(arrivals.load(data, sampling.seed()).upToMaxTokens());
        };
    }

    private void tellWithoutEffect(CommandSpec command, Terminal terminal) {
        if (pretok || workload.isTokenIds()) {
            ExplicitFlags.tellWithoutEffect(
                    command, "--tokenize-workers", "the prompts are token ids before they are submitted", terminal);
        }
        if (pretok && workload.isTokenIds()) {
            terminal.note("--pretok has no effect: the prompts are token ids");
        }
        if (submitIntervalMillis == 0 && !arrivals.isGiven(command)) {
            ExplicitFlags.tellWithoutEffect(
                    command,
                    "--submit-schedule",
                    "without --submit-interval-ms all requests are submitted at once",
                    terminal);
        }
    }

    private static StepProfiler profiler(LoadedModel loaded, Terminal terminal) {
        if (loaded.runner() instanceof StepProfiler.Source source) {
            if (loaded.replicas() > 1) {
                terminal.note("--profile-ops covers only engine 0 of " + loaded.replicas());
            }
            return source.profile(terminal.clock());
        }
        throw new BadInput(
                "--profile-ops is not supported on " + loaded.device() + "; add --device cpu or leave the flag out");
    }

    private EngineOptions withTimeline(EngineOptions options) {
        return timeline.isEmpty() ? options : options.withStepHistory(TIMELINE_STEPS);
    }

    private OfferedLoad prepared(OfferedLoad load, LoadedModel loaded) {
        if (load.requests().stream().allMatch(request -> request.prompt() instanceof Prompt.Tokens)) {
            return load;
        }
        Tokenizer tokenizer = TextPrompts.tokenizer(loaded);
        return pretok ? load.withPrompts(Prompts.tokenized(tokenizer::encodePrompt)) : load;
    }

    private StreamingReport.Setup setup(LoadedModel loaded) {
        DeviceOptions device = loaded.deviceOptions();
        return new StreamingReport.Setup(
                model.model(),
                loaded.device(),
                pretok,
                delivery.tokenizeWorkers(),
                delivery.streamInterval(),
                device.pagedAttention().orElse(true),
                device.cudaGraph().orElse(false),
                device.profilerRanges());
    }
}
