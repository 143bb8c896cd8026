package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.Settings.Device;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.EngineOptions;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Which model, on which device. The one class that talks to the composition root. */
final class ModelOptions {
    @Option(
            names = {"--model", "--hf-model-id"},
            paramLabel = "<REF>",
            description = {
                "A directory in Hugging Face layout, a hub id, builtin:tiny, or random:gpt2[-medium|-large|-xl]."
            })
    private String model = "builtin:tiny";

    @Option(
            names = "--device",
            paramLabel = "<auto|cpu|cuda>",
            converter = Choices.Device.class,
            description = "Where to run (default: auto, which is the best device there is).",
            showDefaultValue = Visibility.NEVER)
    private Optional<Device> device = Optional.empty();

    @Option(
            names = "--dtype",
            paramLabel = "<auto|fp32|bf16|fp16|int8>",
            converter = Choices.Dtype.class,
            description =
                    "Type of the weights in memory (default: auto, which narrows nothing on cpu and is fp16 on cuda).",
            showDefaultValue = Visibility.NEVER)
    private Precision dtype = Precision.AUTO;

    @Option(
            names = "--threads",
            paramLabel = "<N>",
            converter = Ranges.Threads.class,
            description = "Threads of the CPU device (default: one per core).",
            showDefaultValue = Visibility.NEVER)
    private Optional<Integer> threads = Optional.empty();

    @Option(names = "--offline", description = "Download nothing; HF_HUB_OFFLINE=1 says the same.")
    private boolean offline;

    @Option(
            names = "--paged-attn",
            negatable = true,
            description = "Read the KV cache through block tables (default: on; the CPU always does).")
    private @Nullable Boolean pagedAttention;

    @Option(
            names = "--cuda-graph",
            negatable = true,
            description = "Replay decode steps as CUDA graphs (default: on where there is CUDA).")
    private @Nullable Boolean cudaGraph;

    @Option(names = "--nvtx", description = "Emit profiler ranges on CUDA.")
    private boolean nvtx;

    @Option(
            names = "--batch-invariant",
            negatable = true,
            description = "Bit-equal results whatever the batch (default: on on cpu, where it costs nothing).")
    private @Nullable Boolean batchInvariant;

    /** {@code --backend}, which says the same as {@code --device}. */
    void alsoNamed(Device value) {
        if (device.isPresent() && device.get() != value) {
            throw new BadInput("--backend " + Choices.word(value) + " and --device " + Choices.word(device.get())
                    + " contradict each other; they are one flag, so give one of them");
        }
        device = Optional.of(value);
    }

    boolean isSimulated() {
        return device.equals(Optional.of(Device.SIM));
    }

    String model() {
        return model;
    }

    Precision dtype() {
        return dtype;
    }

    /** What runs, once the device is known, told where a flag asked for something else. */
    record Features(boolean pagedAttention, boolean cudaGraph, boolean nvtx, boolean batchInvariant) {}

    /** Loads the model, for engines of these options. What the user should hear about it goes to {@code err}. */
    LoadedModel load(EngineOptions engine, Terminal terminal) {
        warnAboutThreads(terminal);
        Settings settings = Settings.of(model)
                .withDevice(device.orElse(Device.AUTO))
                .withPrecision(dtype)
                .withThreads(threads.orElse(0))
                .withOffline(offline)
                .withEnvironment(terminal.environment())
                .withCudaGraphs(!Boolean.FALSE.equals(cudaGraph))
                .withBatchInvariant(Boolean.TRUE.equals(batchInvariant))
                .withEngine(engine);
        try (Downloads downloads = new Downloads(terminal)) {
            LoadedModel loaded = Roseinfer.load(settings, downloads);
            loaded.warnings().forEach(terminal::note);
            tellChoice(loaded, terminal);
            return loaded;
        }
    }

    /** Who asked for {@code auto}, or has a GPU, should not have to guess what it came to. */
    private void tellChoice(LoadedModel loaded, Terminal terminal) {
        boolean wondering = device.isEmpty() ? Machine.here().gpu().isPresent() : device.get() == Device.AUTO;
        if (wondering && loaded.device().equals(Choices.word(Device.CPU))) {
            String why = CudaBackend.refusal()
                    .map(refusal -> refusal.getMessage()
                            .replace("; use --device cpu", "")
                            .replace(", or use --device cpu", ""))
                    .orElse("--threads and int8 weights are for the cpu");
            terminal.note("--device auto is cpu: " + why);
        }
    }

    private void warnAboutThreads(Terminal terminal) {
        int cores = Runtime.getRuntime().availableProcessors();
        int asked = threads.orElse(1);
        if (asked > cores) {
            terminal.note(
                    "--threads " + asked + " is more than the " + cores + " cores there are; expect it to be slower");
        }
    }

    /** What is in force on a device, with one note for each flag that has no effect there. */
    Features features(String deviceName, Terminal terminal) {
        if (deviceName.equals(Choices.word(Device.CUDA))) {
            if (Boolean.FALSE.equals(pagedAttention)) {
                terminal.note("--no-paged-attn has no effect on cuda: attention is always paged there");
            }
            if (nvtx) {
                terminal.note("--nvtx has no effect: this build emits no profiler ranges");
            }
            return new Features(true, !Boolean.FALSE.equals(cudaGraph), false, Boolean.TRUE.equals(batchInvariant));
        }
        for (Without without : List.of(
                new Without(Boolean.FALSE.equals(pagedAttention), "--no-paged-attn", "attention is always paged there"),
                new Without(Boolean.TRUE.equals(cudaGraph), "--cuda-graph", "graphs need CUDA"),
                new Without(nvtx, "--nvtx", "profiler ranges need CUDA"),
                new Without(
                        Boolean.FALSE.equals(batchInvariant),
                        "--no-batch-invariant",
                        "results never depend on the batch there"))) {
            if (without.given()) {
                terminal.note(without.flag() + " has no effect on " + deviceName + ": " + without.why());
            }
        }
        return new Features(true, false, false, true);
    }

    private record Without(boolean given, String flag, String why) {}
}
