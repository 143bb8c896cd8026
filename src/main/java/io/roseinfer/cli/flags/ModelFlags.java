package io.roseinfer.cli.flags;

import io.roseinfer.AutoDevice;
import io.roseinfer.DeviceOptions;
import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.Settings.Device;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.terminal.Downloads;
import io.roseinfer.cli.terminal.MemoryTable;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Flags for the model and its device. The only class that uses the composition root. */
@Heading("Model")
public final class ModelFlags {
    /** The shapes allowed after {@code random:}, for the help. */
    static final class RandomShapes implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Families.known().randomShapes().iterator();
        }
    }

    @Option(
            names = {"--model", "--hf-model-id"},
            paramLabel = "<REF>",
            completionCandidates = RandomShapes.class,
            description =
                    "A directory in Hugging Face layout, a hub id, builtin:tiny, builtin:chat, or random:SHAPE, where SHAPE"
                            + " is one of ${COMPLETION-CANDIDATES} or the path of a config.json.")
    private String model = "builtin:tiny";

    @Heading("Device")
    @Option(
            names = "--device",
            paramLabel = "<auto|cpu|cuda[:N][,...]|sim|CLASS|FILE.java[:ARG]>",
            converter = Place.Parser.class,
            description = {
                "Device to run on; cuda:1 is the second GPU, cuda:0,cuda:1 runs a replica on each, sim runs no model and returns"
                        + " placeholder tokens; or a Backend by class name or source file, ARG for its constructor",
                "(default: auto, the best device available)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<Place> device = Optional.empty();

    @Mixin
    private ReplicaFlags replicas = new ReplicaFlags();

    @Option(
            names = "--dtype",
            paramLabel = "<auto|fp32|bf16|fp16|int8|int4>",
            description =
                    "Data type of the weights (default: auto: unrounded on cpu, fp16 or bf16 on cuda); int8 on cuda requires Hopper and a"
                            + " model with RMS norms and gated MLPs; int4 requires cpu.",
            showDefaultValue = Visibility.NEVER)
    private Precision dtype = Precision.AUTO;

    @Heading("Device")
    @Option(
            names = "--kv-cache-dtype",
            paramLabel = "<auto|fp8>",
            description =
                    "Data type of the KV cache (default: auto, the type of the activations); fp8 halves the cache and requires CUDA on an H100"
                            + " or newer and a model with RoPE.",
            showDefaultValue = Visibility.NEVER)
    private KvPrecision keys = KvPrecision.AUTO;

    @Heading("Device")
    @Option(
            names = "--threads",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "CPU threads (default: one per core).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1, max = CpuOptions.MAX_THREADS)
    private Optional<Integer> threads = Optional.empty();

    @Option(
            names = "--max-model-len",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum tokens per sequence, prompt plus completion (default: the model's context length).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 2, max = Limits.MODEL_DIMENSION)
    private Optional<Integer> maxModelLen = Optional.empty();

    @Option(names = "--offline", description = "Do not download anything; same as HF_HUB_OFFLINE=1.")
    private boolean offline;

    @Heading("Device")
    @Option(
            names = "--paged-attn",
            negatable = true,
            description = {
                "Store the KV cache in paged blocks (default: on; always on for cpu).",
                "Without it, each sequence on CUDA reserves a contiguous region as long as the context."
            })
    private @Nullable Boolean pagedAttention;

    @Heading("Device")
    @Option(
            names = "--cuda-graph",
            negatable = true,
            description = "Run decode steps and short prompts as CUDA graphs (default: on for cuda).")
    private @Nullable Boolean cudaGraph;

    @Heading("Device")
    @Option(names = "--nvtx", description = "Emit NVTX ranges for the profiler that started this process (CUDA).")
    private boolean nvtx;

    @Heading("Device")
    @Option(
            names = "--batch-invariant",
            negatable = true,
            description =
                    "Produce results that do not depend on the batch, bit for bit (default: on for cpu, where it is free).")
    private @Nullable Boolean batchInvariant;

    @Heading("Device")
    @Option(names = "--memory-plan", description = "Print the memory use of the loaded model to standard error.")
    private boolean memoryPlan;

    private boolean tokenIdsOnly = true;
    private boolean onSimulatedTime;

    /** Sets the device by {@code --backend}, a synonym of {@code --device}. */
    public void alsoNamed(Place value) {
        if (device.isPresent() && !device.get().equals(value)) {
            throw new BadInput("--backend " + value + " and --device " + device.get()
                    + " are the same setting with different values; give one of them");
        }
        device = Optional.of(value);
    }

    /** Switches to the simulated device regardless of other flags, and to a default model if none is given. */
    public void simulate(CommandSpec command, String defaultModel) {
        onSimulatedTime = true;
        device = Optional.of(new Place(Device.SIM, List.of()));
        model = ExplicitFlags.has(command, "--model") ? model : defaultModel;
    }

    /** Returns whether the device is the simulated one. */
    public boolean isSimulated() {
        return kind() == Device.SIM;
    }

    private Place place() {
        return device.orElse(new Place(Device.AUTO, List.of()));
    }

    private Device kind() {
        return place().kind();
    }

    /** Returns whether the weights are random numbers, so that tokens are meaningless. */
    public boolean hasRandomWeights() {
        return model.startsWith("random:");
    }

    /** Rejects a model whose tokenizer cannot be read, before its weights are downloaded. */
    public void requireTokenizer() {
        tokenIdsOnly = false;
    }

    /** Returns the value of {@code --model}. */
    public String model() {
        return model;
    }

    /** Loads the model for engines with some options, and prints notes about it to {@code err}. */
    public LoadedModel load(EngineOptions engine, Terminal terminal) {
        return load(spec -> engine, terminal);
    }

    /** Loads the model for engines whose options depend on it, and prints notes about it to {@code err}. */
    public LoadedModel load(Function<ModelSpec, EngineOptions> engine, Terminal terminal) {
        Settings settings = settings(terminal);
        try (Downloads downloads = new Downloads(terminal)) {
            LoadedModel loaded = Roseinfer.load(settings, engine, downloads);
            loaded.warnings().forEach(terminal::warning);
            tellChoice(loaded, settings, terminal);
            if (memoryPlan) {
                MemoryTable.lines(loaded.runner().memory()).forEach(terminal::note);
            }
            tellIgnored(loaded, terminal);
            return loaded;
        }
    }

    /** Returns the settings of these flags, with default engine options. */
    public Settings settings(Terminal terminal) {
        DeviceOptions options = options();
        Settings settings = Settings.of(model)
                .withReplicas(onSimulatedTime ? 1 : replicas.count(options.gpus()))
                .withRouting(replicas.policy())
                .withMaxModelLen(maxModelLen.orElse(0))
                .withTokenIdsOnly(tokenIdsOnly)
                .withOffline(offline)
                .withEnvironment(terminal.environment());
        return place().applyTo(settings, options);
    }

    private DeviceOptions options() {
        if (onSimulatedTime) {
            return DeviceOptions.of(Device.SIM);
        }
        DeviceOptions options = DeviceOptions.of(kind())
                .withGpus(place().gpus())
                .withPrecision(dtype)
                .withKvCache(keys)
                .withThreads(threads.orElse(0))
                .withProfilerRanges(nvtx);
        options = pagedAttention == null ? options : options.withPagedAttention(pagedAttention);
        options = cudaGraph == null ? options : options.withCudaGraph(cudaGraph);
        return batchInvariant == null ? options : options.withBatchInvariant(batchInvariant);
    }

    /** Returns the number of replicas in simulated time, which loads only one model. */
    public int simulatedReplicas() {
        return replicas.count(List.of());
    }

    /** Returns whether the routing policy may depend on the state of replicas. */
    public boolean routesByState() {
        return replicas.routesByState();
    }

    /** Returns a new routing policy. */
    public RoutingPolicy routing() {
        return replicas.policy();
    }

    /** Explains why an explicit {@code --device auto} selected the CPU on a machine without a driver. */
    private void tellChoice(LoadedModel loaded, Settings settings, Terminal terminal) {
        boolean asked = device.isPresent() && kind() == Device.AUTO;
        // With a driver, the reason is one of the warnings.
        if (asked && !CudaBackend.hasDriver() && loaded.device().equals(Choices.word(Device.CPU))) {
            AutoDevice.reasonForCpu(settings).ifPresent(reason -> terminal.note("device auto is cpu: " + reason));
        }
    }

    /** Returns the device of a loaded model as a value of {@code --device}. */
    String place(LoadedModel loaded) {
        return kind() == Device.CUSTOM || (loaded.gpu().isPresent() && kind() == Device.CUDA)
                ? place().toString()
                : loaded.device();
    }

    /** Prints a note for each flag that has no effect on the device. */
    private void tellIgnored(LoadedModel loaded, Terminal terminal) {
        DeviceOptions asked = options();
        for (DeviceOptions.Ignored ignored :
                asked.ignored(loaded.deviceOptions().device())) {
            String flag = ignored.name().replace('_', '-');
            String given =
                    switch (ignored.asked()) {
                        case Boolean on -> on ? "--" + flag : "--no-" + flag;
                        case Enum<?> word -> "--" + flag + " " + Choices.word(word);
                        default -> "--" + flag + " " + ignored.asked();
                    };
            terminal.note(given + " has no effect on " + loaded.device() + ": " + ignored.why());
        }
    }
}
