package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.RunListener.Phase;
import io.roseinfer.bench.SchedulerBenchmark;
import io.roseinfer.bench.SchedulerReport;
import io.roseinfer.bench.SchedulerRun;
import io.roseinfer.bench.StreamingReport;
import io.roseinfer.bench.Workload;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "scheduler",
        description = "Drive the scheduler by hand: no queue, no streams, no engine thread.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
final class BenchSchedulerCommand implements io.roseinfer.cli.Command {
    @Mixin
    private ModelOptions model = new ModelOptions();

    @Mixin
    private WorkloadOptions workload = new WorkloadOptions();

    @Option(
            names = "--mode",
            paramLabel = "<online|offline|naive>",
            converter = Choices.SchedulerMode.class,
            description = {
                "online prefills requests one by one as they come, offline all together; naive never batches."
            })
    private SchedulerBenchmark.Mode mode = SchedulerBenchmark.Mode.ONLINE;

    @Option(
            names = "--max-new-tokens",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Most tokens to generate per request.")
    private int maxNewTokens = 100;

    @Mixin
    private SchedulerFlags scheduler = new SchedulerFlags();

    @Mixin
    private SamplingOptions sampling = new SamplingOptions();

    @Option(
            names = "--warmup-runs",
            paramLabel = "<N>",
            converter = Ranges.NotNegative.class,
            description = "Runs before those that count.")
    private int warmupRuns = 1;

    @Option(
            names = "--repeat-runs",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Runs that count.")
    private int repeatRuns = 3;

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        Workload requests = workload.workload(maxNewTokens, sampling.params(terminal));
        EngineOptions options = scheduler.engineOptions(sampling.seed(), terminal);
        try (LoadedModel loaded = model.load(options, terminal)) {
            model.features(loaded.device(), terminal);
            Tokenizer tokenizer = loaded.tokenizer()
                    .orElseThrow(() -> new BadInput("--model " + loaded.spec().name()
                            + " has no tokenizer for --prompt; put tokenizer.json beside its weights"));
            SchedulerBenchmark benchmark = new SchedulerBenchmark(
                    loaded.runner(),
                    options.scheduler(),
                    requests.pretokenized(tokenizer::encode),
                    sampling.seed(),
                    terminal.clock());
            List<SchedulerRun> runs = benchmark.run(
                    mode, warmupRuns, repeatRuns, (phase, number, of) -> banner(terminal, phase, number, of));
            terminal.print(SchedulerReport.text(mode, warmupRuns, runs));
        }
        return 0;
    }

    private static void banner(Terminal terminal, Phase phase, int number, int of) {
        if (phase == Phase.WARMUP) {
            terminal.print(StreamingReport.warmupBanner(number, of));
        }
    }
}
