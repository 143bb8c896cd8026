package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.ModelBenchmark;
import io.roseinfer.bench.ModelBenchmark.WarmUp;
import io.roseinfer.bench.ModelPoint;
import io.roseinfer.bench.ModelTiming;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ModelReport;
import io.roseinfer.bench.report.ModelResult;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.JsonFlag;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.flags.SettingsInForce;
import io.roseinfer.cli.flags.Shapes;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "model",
        description = "Benchmark prefill and decode steps of given shapes, without scheduler or queue.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
@Heading("Measurement")
final class BenchModelCommand implements io.roseinfer.cli.terminal.Command {
    private static final double NANOS_PER_MILLI = 1e6;

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Heading("Load")
    @Option(
            names = "--prefill",
            paramLabel = "<[ROWSx]TOKENS[,...]>",
            converter = Shapes.Prefills.class,
            description = "Shapes of prefill steps, or none.")
    private Shapes.Points prefill = Shapes.Points.of(new ModelPoint.Prefill(1, 64));

    @Heading("Load")
    @Option(
            names = "--decode",
            paramLabel = "<ROWS[,...]>",
            converter = Shapes.Decodes.class,
            description = "Rows of decode steps, or none.")
    private Shapes.Points decode = Shapes.Points.of(new ModelPoint.Decode(1), new ModelPoint.Decode(8));

    @Heading("Load")
    @Option(
            names = "--context",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Tokens of each row before it decodes.")
    @Within(min = 1)
    private int context = 8;

    @Heading("Load")
    @Option(
            names = "--decode-steps",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Steps per decode run.")
    @Within(min = 1, max = 10_000)
    private int decodeSteps = 64;

    @Heading("Load")
    @Option(
            names = "--block-size",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Tokens per KV block.")
    @Within(min = 1, max = RunnerLimits.MAX_BLOCK_SIZE)
    private int blockSize = 16;

    @Option(
            names = "--warmup-runs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Minimum warm-up runs of each shape.")
    @Within(min = 0)
    private int warmupRuns = WarmUp.defaults().runs();

    @Option(
            names = "--warmup-ms",
            paramLabel = "<MS>",
            preprocessor = Within.Check.class,
            description = "Minimum warm-up time of each shape in milliseconds.")
    @Within(min = 0, max = 3_600_000)
    private double warmupMillis = WarmUp.defaults().nanos() / NANOS_PER_MILLI;

    @Option(
            names = "--repeat-runs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Measured runs of each shape.")
    @Within(min = 1)
    private int repeatRuns = 5;

    @Mixin
    private JsonFlag json = new JsonFlag();

    @Mixin
    private ReportFlags pages = new ReportFlags();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        List<ModelPoint> points = new ArrayList<>(prefill.values());
        points.addAll(decode.values());
        if (points.isEmpty()) {
            throw new BadInput("--prefill none --decode none leaves nothing to measure; give a shape for one of them");
        }
        WarmUp warmUp = new WarmUp(warmupRuns, Math.round(warmupMillis * NANOS_PER_MILLI));
        Optional<ResultFile> results = json.file();
        pages.check(results.stream().toList());
        ModelBenchmark.Settings settings =
                new ModelBenchmark.Settings(points, context, decodeSteps, warmUp, repeatRuns);
        EngineOptions base = EngineOptions.defaults().withBlockSize(blockSize);
        try (LoadedModel loaded = model.load(spec -> settings.engineOptions(base, spec.contextLength()), terminal)) {
            loaded.warmUpKernels(terminal.clock());
            Map<String, @Nullable Object> flags = new SettingsInForce(loaded, base).all(command, model);
            Environment environment = Machine.here().environment(loaded, terminal);
            ModelBenchmark benchmark =
                    new ModelBenchmark(loaded.runner(), settings, terminal.clock(), loaded.profiler());
            String dtype = loaded.precision().map(Choices::word).orElse("none");
            terminal.print(ModelReport.header(model.model(), dtype, loaded.deviceDescription(), settings));
            terminal.print(WarmUpLine.of(loaded));
            try (IncrementalFile<ModelTiming> file = new IncrementalFile<>(
                    results, (to, timings) -> to.write(ModelResult.of(flags, environment, timings)))) {
                benchmark.run(timing -> {
                    terminal.print(ModelReport.row(timing));
                    file.add(timing);
                });
                pages.write("model", () -> ModelResult.of(flags, environment, file.parts()));
            }
        }
        return 0;
    }
}
