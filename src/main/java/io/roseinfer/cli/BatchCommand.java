package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.OutputFailed;
import io.roseinfer.batch.BatchCluster;
import io.roseinfer.batch.BatchInput;
import io.roseinfer.batch.BatchJob;
import io.roseinfer.batch.BatchModel;
import io.roseinfer.batch.BatchOptions;
import io.roseinfer.batch.BatchOutput;
import io.roseinfer.batch.BatchTotals;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.GenerationConfigFlag;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.ReplyFlags;
import io.roseinfer.cli.flags.SchedulerFlags;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.terminal.ProgressBars;
import io.roseinfer.cli.terminal.StopSignals;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.cli.terminal.Terminal.OutputClosed;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.server.api.ServedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import me.tongfei.progressbar.ProgressBar;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@Command(
        name = "batch",
        description = "Run a file of requests in OpenAI's batch format and write the responses to a file.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
@Heading("Batch")
final class BatchCommand implements io.roseinfer.cli.terminal.Command {
    private static final String STANDARD = "-";
    private static final Remedy RESUME = Remedy.of("continue with %s, which keeps the responses so far", "resume");
    private static final long KIB = 1024;

    /** Requests in flight per row of a step: those in the step, those for the next steps, and those being read and written. */
    private static final int WINDOW_STEPS = 4;

    /** Maximum completions per request. */
    private static final long CHOICES = 64;

    private static final int MAX_FEEDERS = 4;

    /** The flags that have an effect with {@code --spark}. */
    private static final Set<String> WITH_SPARK = Set.of(
            "--spark",
            "--input",
            "--output",
            "--resume",
            "--seed",
            "--served-model-name",
            "--generation-config",
            "--hf-model-id",
            "--device",
            "--dtype",
            "--threads",
            "--offline",
            "--batch-invariant",
            "--max-batch-size",
            "--kv-blocks");

    @Option(
            names = {"-i", "--input"},
            paramLabel = "<FILE>",
            required = true,
            description = "Requests, one per line; .zst is compressed, and - is standard input.",
            showDefaultValue = Visibility.NEVER)
    private String input = "";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "<FILE>",
            required = true,
            description = "Responses, one per line; .zst compresses it, and - is standard output.",
            showDefaultValue = Visibility.NEVER)
    private String output = "";

    @Option(names = "--resume", description = "Continue an existing --output: skip the requests that it answers.")
    private boolean resume;

    @Option(
            names = "--ordered",
            description = "Write responses in the order of their requests instead of as they complete.")
    private boolean ordered;

    @Option(
            names = "--in-flight",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "Maximum requests between input and output (default: 4 per row of --max-batch-size and replica).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> inFlight = Optional.empty();

    @Option(
            names = "--seed",
            paramLabel = "<N>",
            description = "Base seed of requests without one, combined with their custom_id.")
    private long seed;

    @Option(
            names = "--served-model-name",
            paramLabel = "<NAME>",
            description = "Model name that requests may use (default: --model).",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> servedModelName = Optional.empty();

    @Option(
            names = "--drain-seconds",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Seconds that in-flight requests have to finish after Ctrl-C or SIGTERM.")
    @Within(min = 0)
    private int drainSeconds = 30;

    @Option(
            names = "--spark",
            paramLabel = "<MASTER>",
            description = "Run on this Spark cluster, with a folder as --output: local[2], yarn, spark://host:port, …",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> spark = Optional.empty();

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Mixin
    private ReplyFlags replies = new ReplyFlags();

    @Mixin
    private GenerationConfigFlag generationConfig = new GenerationConfigFlag();

    @Mixin
    private SchedulerFlags scheduler = SchedulerFlags.forThroughput();

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        model.requireTokenizer();
        if (spark.isPresent()) {
            return runOnSpark(spec, spark.get(), terminal);
        }
        Path from = Path.of(input.equals(STANDARD) ? "/dev/stdin" : input);
        Path to = Path.of(output.equals(STANDARD) ? "/dev/stdout" : output);
        requireTwoFiles(from, to);
        EngineOptions options = scheduler.engineOptions(seed, terminal).withStreamInterval(Integer.MAX_VALUE);
        try (BatchInput requests = BatchInput.open(from);
                BatchOutput answers =
                        resume ? BatchOutput.resume(to, terminal.clock()) : BatchOutput.create(to, terminal.clock());
                LoadedModel loaded = model.load(options, terminal)) {
            loaded.warmUp(terminal.clock());
            ServedModel chat =
                    ServedModel.named(servedModelName.orElse(model.model())).withChat(loaded.chat());
            ServedModel served = replies.addTo(chat).withDefaults(generationConfig.of(loaded));
            BatchOptions how = new BatchOptions(window(options, loaded), ordered, feeders());
            int most = (int) Math.min(Integer.MAX_VALUE, how.inFlight() * CHOICES);
            try (Engine engine = loaded.serve(options.withMaxInflightRequests(most), terminal.clock())) {
                BatchModel batch = new BatchModel(
                        served, loaded.spec(), loaded.tokenizer(), engine.maxRequestTokens(), seed, created(from));
                BatchJob job = new BatchJob(engine, batch, requests, answers, how);
                return run(job, engine, requests, terminal);
            }
        } catch (OutputFailed failed) {
            throw isClosedPipe(failed) ? new OutputClosed() : failed;
        }
    }

    private int runOnSpark(CommandSpec spec, String master, Terminal terminal) {
        ExplicitFlags.tellOthersWithoutEffect(
                spec, WITH_SPARK, "with --spark each executor has its own engine and window", terminal);
        long startNanos = terminal.clock().nanos();
        BatchTotals totals = BatchCluster.named("spark")
                .run(new BatchCluster.Job(
                        master,
                        input,
                        output,
                        resume,
                        model.settings(terminal).withEngine(scheduler.engineOptions(seed, terminal)),
                        servedModelName.orElse(model.model()),
                        generationConfig.ofModel(),
                        seed));
        terminal.note(summary(totals, terminal.clock().nanos() - startNanos));
        return 0;
    }

    private static void requireTwoFiles(Path from, Path to) {
        try {
            if (Files.exists(from) && Files.exists(to) && Files.isSameFile(from, to)) {
                throw new BadInput(
                        "--input and --output both name " + FileFailure.shown(from) + "; name two different files");
            }
        } catch (IOException e) {
            throw new BadInput("--input and --output cannot be compared: " + FileFailure.reason(e), e);
        }
    }

    /** Returns the input's modification time, so that resumed runs have the same date; the current time for a pipe. */
    private static Instant created(Path input) {
        try {
            return Files.isRegularFile(input)
                    ? Files.getLastModifiedTime(input).toInstant()
                    : InstantSource.system().instant();
        } catch (IOException e) {
            throw new BadInput("--input " + FileFailure.shown(input) + " cannot be read: " + FileFailure.reason(e), e);
        }
    }

    private int window(EngineOptions options, LoadedModel loaded) {
        long rows = (long) options.scheduler().maxBatchSize() * loaded.replicas();
        return inFlight.orElse((int) Math.min(Integer.MAX_VALUE, WINDOW_STEPS * rows));
    }

    private static int feeders() {
        return Math.clamp(Runtime.getRuntime().availableProcessors() / 4, 1, MAX_FEEDERS);
    }

    private int run(BatchJob job, Engine engine, BatchInput requests, Terminal terminal) {
        AtomicInteger signalled = new AtomicInteger();
        long startNanos = terminal.clock().nanos();
        BatchTotals totals;
        StopSignals.Handled handled = StopSignals.handle(terminal, code -> {
            signalled.set(code);
            job.stop();
            Thread.ofPlatform().daemon().name("batch-drain").start(() -> closeAfterGrace(engine));
        });
        try {
            totals = watched(job, requests, terminal);
        } catch (OutputFailed full) {
            throw isResumable() ? new OutputFailed(full.getMessage(), full, RESUME) : full;
        } catch (RoseException stopped) {
            if (isResumable()) {
                terminal.note("the responses so far are in " + output + "; continue with --resume");
            }
            throw stopped;
        } finally {
            handled.close();
        }
        terminal.note(summary(totals, terminal.clock().nanos() - startNanos));
        if (signalled.get() != 0) {
            terminal.note("stopped before the end; continue by repeating the command with --resume");
        }
        return signalled.get();
    }

    private boolean isResumable() {
        return !output.equals(STANDARD) && Files.isRegularFile(Path.of(output));
    }

    /** Returns whether the reader of standard output has left. */
    private boolean isClosedPipe(OutputFailed failure) {
        return output.equals(STANDARD)
                && failure.getCause() instanceof IOException cause
                && FileFailure.reason(cause).equals("Broken pipe");
    }

    private BatchTotals watched(BatchJob job, BatchInput requests, Terminal terminal) {
        Optional<ProgressBar> bar = bar(terminal);
        try {
            return job.run(soFar -> bar.ifPresent(line -> line.stepTo(requests.bytesRead() / KIB)
                    .setExtraMessage(soFar.lines() + " lines, " + soFar.refused() + " refused")));
        } finally {
            bar.ifPresent(ProgressBar::close);
        }
    }

    private void closeAfterGrace(Engine engine) {
        try {
            Thread.sleep(Duration.ofSeconds(drainSeconds));
            engine.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Optional<ProgressBar> bar(Terminal terminal) {
        try {
            long bytes = input.equals(STANDARD) ? -KIB : Files.size(Path.of(input));
            return ProgressBars.open(terminal, input + " KiB", bytes / KIB);
        } catch (IOException unknown) {
            return Optional.empty();
        }
    }

    private static String summary(BatchTotals totals, long nanos) {
        double seconds = nanos / 1e9;
        return String.format(
                Locale.ROOT,
                "%d lines in %.2f s: %d answered, %d refused, %d skipped%s; %d prompt tokens, %d completion tokens,"
                        + " %.1f tokens/s",
                totals.lines(),
                seconds,
                totals.answered(),
                totals.refused(),
                totals.skipped(),
                totals.inFlight() == 0 ? "" : ", " + totals.inFlight() + " unfinished",
                totals.promptTokens(),
                totals.completionTokens(),
                totals.completionTokens() / seconds);
    }
}
