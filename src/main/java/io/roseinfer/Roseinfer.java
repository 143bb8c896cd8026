package io.roseinfer;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.backend.cuda.nvtx.NvtxRanges;
import io.roseinfer.backend.sim.SimBackend;
import io.roseinfer.backend.sim.SimFaults;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.base.Printable;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.hub.BeforeWeights;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.hub.HubSettings;
import io.roseinfer.hub.ModelHub;
import io.roseinfer.hub.ModelRef;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.observe.Observers;
import io.roseinfer.safetensors.Safetensors;
import io.roseinfer.scheduler.ExtensionFailure;
import java.lang.System.Logger.Level;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** Entry point: loads models and opens engines. */
public final class Roseinfer {
    /** Environment variable with the path of the profiler's library that receives the ranges. */
    static final String PROFILER_LIBRARY = "NVTX_INJECTION64_PATH";

    /** Environment variable with faults of the simulated device, for tests. */
    static final String SIM_FAULTS = "ROSEINFER_SIM_FAULTS";

    /** Seed of {@code random:} weights, so that the model is the same every time. */
    private static final long RANDOM_WEIGHTS_SEED = 0;

    private Roseinfer() {}

    /**
     * Loads a model with default settings, warms it up and serves it; closing the engine frees everything.
     * {@link Engine#chatRequest} makes requests from conversations.
     *
     * @param model one of
     *     <ul>
     *       <li>a directory in Hugging Face layout, with {@code config.json} and {@code model.safetensors};
     *       <li>a hub id {@code owner/name}, or {@code owner/name@revision} with a branch, tag or commit; the owner of some
     *           known models may be left out; it is downloaded unless the local cache has it;
     *       <li>{@code builtin:tiny}, which writes stories, or {@code builtin:chat}; both are in the jar;
     *       <li>{@code random:SHAPE}, a known shape with seeded random weights, or {@code random:PATH}, the shape of a
     *           {@code config.json}; the message for an unknown shape lists the known ones.
     *     </ul>
     *     An existing directory takes precedence over a hub id
     * @throws io.roseinfer.base.RoseException like {@link #load(Settings)}
     * @throws CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public static Engine open(String model) {
        return open(Settings.of(model));
    }

    /**
     * Loads a model, warms it up ({@link LoadedModel#warmUp}) and serves it; closing the engine frees everything.
     * {@link LoadedModel#warnings} are logged to {@code io.roseinfer}.
     *
     * @throws io.roseinfer.base.RoseException like {@link #load(Settings)}
     * @throws CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public static Engine open(Settings settings) {
        Objects.requireNonNull(settings, "settings");
        LoadedModel model = load(settings);
        try {
            model.warmUp();
            return model.serve().onClose(model::close);
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    /** Logs a warning; log records name this method as their source. */
    private static void warn(String warning) {
        System.getLogger("io.roseinfer").log(Level.WARNING, Printable.line(warning));
    }

    private static void inform(String progress) {
        System.getLogger("io.roseinfer").log(Level.INFO, Printable.line(progress));
    }

    /** Returns a listener that logs warnings, waits, retries, and the start and end of each download of weights. */
    private static DownloadListener logged(String model) {
        Set<String> begun = ConcurrentHashMap.newKeySet();
        return new DownloadListener() {
            @Override
            public void progress(String file, long bytesSoFar, long totalBytes) {
                if (file.endsWith(Safetensors.PLAIN_SUFFIX) && begun.add(file)) {
                    inform("downloading " + file + " of " + model + ", " + totalBytes + " bytes");
                }
                if (bytesSoFar == totalBytes && begun.contains(file)) {
                    inform("downloaded " + file + " of " + model);
                }
            }

            @Override
            public void waiting(String file) {
                inform("waiting for another process that downloads " + file + " of " + model);
            }

            @Override
            public void retrying(String file, int attempt, int maxAttempts, String reason) {
                warn("trying again to download " + file + " of " + model + ", attempt " + attempt + " of " + maxAttempts
                        + ": " + reason);
            }

            @Override
            public void warning(String message) {
                warn(message);
            }
        };
    }

    /**
     * Loads a model, sized for the settings' engine options, to serve engines or to make requests from conversations
     * ({@link LoadedModel#chatRequest}). The first requests are slow unless it is warmed up
     * ({@link LoadedModel#warmUp}). Warnings and the start, end and retries of downloads are logged to
     * {@code io.roseinfer}.
     *
     * @throws BadInput if the model's name is malformed, or a setting does not fit the model
     * @throws io.roseinfer.base.RoseException.BadModel if the model cannot be found, downloaded or read, or is not
     *     supported
     * @throws BackendUnavailable if the device cannot be used
     * @throws io.roseinfer.base.RoseException.InsufficientMemory if the model and its KV cache do not fit
     * @throws CancellationException if the thread is interrupted while loading; the interrupt status remains set
     */
    public static LoadedModel load(Settings settings) {
        Objects.requireNonNull(settings, "settings");
        LoadedModel model = load(settings, logged(settings.model()));
        model.warnings().forEach(Roseinfer::warn);
        return model;
    }

    /**
     * Loads a model, sized for the settings' engine options. The first requests are slow unless it is warmed up.
     *
     * @param downloads is notified of the progress of downloads
     * @throws io.roseinfer.base.RoseException like {@link #load(Settings)}
     * @throws CancellationException if the thread is interrupted while loading; the interrupt status remains set
     */
    public static LoadedModel load(Settings settings, DownloadListener downloads) {
        Objects.requireNonNull(settings, "settings");
        return load(settings, spec -> settings.engine(), downloads);
    }

    /**
     * Loads a model, sized for engine options that depend on it; the engine options of the settings are ignored.
     *
     * @param options is called before any weight is read, and may throw
     * @param downloads is notified of the progress of downloads
     * @throws io.roseinfer.base.RoseException like {@link #load(Settings)}
     * @throws CancellationException if the thread is interrupted while loading; the interrupt status remains set
     */
    public static LoadedModel load(
            Settings settings, Function<ModelSpec, EngineOptions> options, DownloadListener downloads) {
        Objects.requireNonNull(settings, "settings");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(downloads, "downloads");
        List<String> warnings = new ArrayList<>();
        return load(settings, backends(settings, warnings), warnings, options, downloads);
    }

    /** Loads a model to devices, which the loaded model closes; if loading fails, they are closed. */
    private static LoadedModel load(
            Settings settings,
            List<Backend> backends,
            List<String> warnings,
            Function<ModelSpec, EngineOptions> options,
            DownloadListener downloads) {
        try (ModelFiles whole = files(settings, downloads)) {
            ModelFiles files = settings.maxModelLen() == 0 ? whole : whole.withContextLength(settings.maxModelLen());
            EngineOptions asked = options.apply(files.spec());
            warnings.addAll(files.warnings());
            DeviceOptions device = settings.deviceOptions().inForce(device(settings, backends.getFirst()));
            Observers profiler = device.profilerRanges() ? profiler(settings, warnings) : Observers.NONE;
            EngineOptions engine = device.pagedAttention().orElse(true) ? asked : contiguous(asked, files.spec());
            RunnerLimits limits = EngineLimits.runnerLimits(engine, files.spec());
            Copies copies =
                    new Copies(backends, runners(backends, settings.replicas(), files, limits), settings.routing());
            backends.forEach(backend -> warnings.addAll(backend.warnings()));
            shortPool(copies.runner(), limits).ifPresent(warnings::add);
            return new LoadedModel(
                    copies,
                    files.tokenizer(),
                    files.chat(),
                    files.defaults(),
                    asked,
                    device.withProfilerRanges(!profiler.equals(Observers.NONE)),
                    profiler,
                    warnings);
        } catch (RuntimeException | Error e) {
            backends.forEach(Backend::close);
            if (isInterrupt(e)) {
                throw interrupted(e);
            }
            throw e;
        }
    }

    /**
     * Returns whether an interrupt is the cause. A file read, a download and a wait for a lock report it differently.
     */
    private static boolean isInterrupt(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .anyMatch(cause -> cause instanceof ClosedByInterruptException
                        || cause instanceof FileLockInterruptionException
                        || cause instanceof InterruptedException);
    }

    /** Throws if the thread is interrupted, since not every step of loading and warm-up waits or reads a file. */
    static void requireUninterrupted(String done) {
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("interrupted while the model was being " + done);
        }
    }

    private static CancellationException interrupted(Throwable cause) {
        CancellationException interrupted = new CancellationException("interrupted while the model was being loaded");
        interrupted.initCause(cause);
        Thread.currentThread().interrupt();
        return interrupted;
    }

    /** Returns a warning if the KV pool has its default size and is smaller than the model's context. */
    private static Optional<String> shortPool(ModelRunner runner, RunnerLimits limits) {
        long tokens = (long) runner.kv().blocks() * limits.blockSize();
        int context = runner.spec().contextLength();
        return limits.kvBlocks() > 0 || tokens >= context
                ? Optional.empty()
                : Optional.of("the KV cache holds " + tokens
                        + " tokens, fewer than the model's context of " + context
                        + "; longer requests are rejected: set a larger kv_blocks");
    }

    /** Loads one replica per device, or all of them on the only device. */
    private static List<ModelRunner> runners(
            List<Backend> backends, int replicas, ModelFiles files, RunnerLimits limits) {
        List<ModelRunner> runners = new ArrayList<>();
        try {
            for (Backend backend : backends) {
                runners.addAll(load(backend, files, limits, replicas / backends.size()));
                requireUninterrupted("loaded");
            }
        } catch (RuntimeException | Error e) {
            runners.forEach(ModelRunner::close);
            throw e;
        }
        return runners;
    }

    private static List<ModelRunner> load(Backend backend, ModelFiles files, RunnerLimits limits, int replicas) {
        try {
            List<ModelRunner> loaded = backend.load(files.spec(), files.weights(), limits, replicas);
            if (loaded == null || loaded.stream().anyMatch(Objects::isNull)) {
                throw new ExtensionFailure.Misuse("returned null from load");
            }
            if (Stream.of(backend.name(), backend.description(), backend.gpu(), backend.warnings())
                    .anyMatch(Objects::isNull)) {
                throw new ExtensionFailure.Misuse("returned null from name, description, gpu or warnings");
            }
            if (loaded.size() != replicas) {
                throw new ExtensionFailure.Misuse("loaded " + loaded.size() + " replicas instead of " + replicas);
            }
            loaded.forEach(Roseinfer::requireUsable);
            return List.copyOf(loaded);
        } catch (RuntimeException | LinkageError e) {
            throw ExtensionFailure.ofLoading(backend, e);
        }
    }

    /** Rejects a runner with which an engine would wait forever, or fail without a name. */
    private static void requireUsable(ModelRunner runner) {
        if (runner.maxInFlight() < 1) {
            throw new ExtensionFailure.Misuse(
                    "loaded a runner with " + runner.maxInFlight() + " steps in flight; it must have at least 1");
        }
        if (Stream.of(runner.spec(), runner.kv(), runner.limits()).anyMatch(Objects::isNull)) {
            throw new ExtensionFailure.Misuse("loaded a runner whose spec, kv or limits is null");
        }
    }

    /**
     * Returns options for attention that is not paged: one block per sequence, as long as the context, so it is
     * contiguous. The size is a multiple of 16, so that the kernels of paged attention apply.
     */
    private static EngineOptions contiguous(EngineOptions options, ModelSpec spec) {
        if (spec.contextLength() > RunnerLimits.MAX_BLOCK_SIZE) {
            throw new BadInput(
                    spec.name() + " has a context of " + spec.contextLength()
                            + " tokens; attention that is not paged supports up to " + RunnerLimits.MAX_BLOCK_SIZE,
                    Remedy.of("leave %s on", "paged_attn"));
        }
        return options.withBlockSize(Math.ceilDiv(spec.contextLength(), 16) * 16);
    }

    /** Returns observers that report ranges to the profiler, or adds a warning. */
    private static Observers profiler(Settings settings, List<String> warnings) {
        try {
            return NvtxRanges.attach(Optional.ofNullable(settings.environment().get(PROFILER_LIBRARY))
                            .map(Path::of))
                    .observers();
        } catch (BackendUnavailable e) {
            warnings.add(e.getMessage());
            return Observers.NONE;
        }
    }

    /** Returns the kind of a device that was opened; {@code AUTO} is the CPU or CUDA. */
    private static Settings.Device device(Settings settings, Backend opened) {
        return settings.device() != Settings.Device.AUTO
                ? settings.device()
                : opened instanceof CudaBackend ? Settings.Device.CUDA : Settings.Device.CPU;
    }

    private static List<Backend> backends(Settings settings, List<String> warnings) {
        return switch (settings.device()) {
            case AUTO -> best(settings, warnings);
            case CPU -> List.of(cpu(settings));
            case CUDA -> gpus(settings);
            case SIM -> List.of(sim(settings));
            case CUSTOM -> List.of(custom(settings));
        };
    }

    private static Backend custom(Settings settings) {
        return Objects.requireNonNull(
                settings.backend().orElseThrow().get(), "the supplier of Settings.withBackend returned null");
    }

    /** Returns CUDA if it is usable and has the precision, else the CPU, with a warning if there is a driver. */
    private static List<Backend> best(Settings settings, List<String> warnings) {
        if (!CudaBackend.hasDriver()) {
            return List.of(cpu(settings));
        }
        Optional<String> reason = AutoDevice.reasonForCpu(settings);
        if (reason.isEmpty()) {
            return gpus(settings);
        }
        warnings.add("device auto is cpu: " + reason.get());
        return List.of(cpu(settings));
    }

    /** Opens one GPU per replica. */
    private static List<Backend> gpus(Settings settings) {
        List<Integer> named = settings.deviceOptions().gpus();
        int first = named.isEmpty() ? 0 : named.getFirst();
        List<Backend> gpus = new ArrayList<>();
        try {
            for (int i = 0; i < settings.replicas(); i++) {
                gpus.add(cuda(settings.deviceOptions(), named.size() > 1 ? named.get(i) : first + i));
            }
        } catch (RuntimeException | Error e) {
            gpus.forEach(Backend::close);
            throw e;
        }
        return gpus;
    }

    private static Backend sim(Settings settings) {
        String faults = settings.environment().getOrDefault(SIM_FAULTS, "");
        return new SimBackend(SimOptions.defaults().withFaults(SimFaults.parse(SIM_FAULTS, faults)));
    }

    private static Backend cpu(Settings settings) {
        return new CpuBackend(
                CpuOptions.defaults()
                        .withThreads(settings.deviceOptions().threads())
                        .withPrecision(settings.deviceOptions().precision()),
                Clock.system());
    }

    private static Backend cuda(DeviceOptions asked, int index) {
        DeviceOptions inForce = asked.inForce(Settings.Device.CUDA);
        CudaOptions options = CudaOptions.defaults()
                .withPrecision(inForce.precision())
                .withKvCacheDtype(inForce.kvCache())
                .withDevice(index)
                .withGraphs(inForce.cudaGraph().orElse(true))
                .withBatchInvariant(inForce.batchInvariant().orElse(false));
        return CudaBackend.open(options, Clock.system());
    }

    private static ModelFiles files(Settings settings, DownloadListener downloads) {
        return switch (ModelRef.parse(settings.model(), Families.known())) {
            case ModelRef.Directory directory ->
                ModelFiles.openDirectory(settings.model(), directory.path(), settings.tokenIdsOnly(), unused -> true);
            case ModelRef.Hub hub ->
                hub(settings, downloads)
                        .open(
                                hub.id(),
                                beforeWeights(settings),
                                directory -> ModelFiles.openDirectory(
                                        settings.model(), directory, settings.tokenIdsOnly(), ModelHub::isIntact));
            case ModelRef.Builtin builtin -> ModelFiles.openBuiltin(builtin.name());
            case ModelRef.RandomShape random -> ModelFiles.random(random.shape(), RANDOM_WEIGHTS_SEED);
            case ModelRef.RandomConfig random ->
                ModelFiles.random(settings.model(), random.config(), RANDOM_WEIGHTS_SEED);
        };
    }

    private static BeforeWeights beforeWeights(Settings settings) {
        return new BeforeWeights() {
            @Override
            public void config(Path file) {
                ModelFiles.requireSupported(settings.model(), file, settings.maxModelLen());
            }

            @Override
            public void smallFiles(Path directory) {
                if (!settings.tokenIdsOnly()) {
                    ModelFiles.requireTokenizer(settings.model(), directory);
                }
            }
        };
    }

    private static ModelHub hub(Settings settings, DownloadListener downloads) {
        HubSettings hub = HubSettings.from(settings.environment());
        return new ModelHub(settings.offline() ? hub.asOffline() : hub, downloads);
    }
}
