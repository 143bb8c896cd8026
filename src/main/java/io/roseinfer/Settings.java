package io.roseinfer;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.hub.HubSettings;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What to load and where to run it.
 *
 * @param model a directory, a hub id, {@code builtin:tiny}, {@code builtin:chat} or {@code random:NAME}; see {@link io.roseinfer.hub.ModelRef}
 * @param placement where to run
 * @param precision how weights are held
 * @param maxModelLen maximum tokens per sequence, prompt and completion together, as in vLLM; everything sized by the context
 *     follows it. 0 is the model's own context, which it cannot exceed
 * @param tokenIdsOnly whether a model is loaded though its tokenizer cannot be read, to be given token ids
 * @param offline forbids downloads
 * @param environment the environment variables that are read, such as {@code HF_HOME} and {@code HF_TOKEN}; others are dropped, and
 *     {@link #toString} shows no values, since some are secrets
 * @param cuda what only matters on CUDA
 * @param engine the engine's knobs, which size the runner
 */
public record Settings(
        String model,
        Placement placement,
        Precision precision,
        int maxModelLen,
        boolean tokenIdsOnly,
        boolean offline,
        Map<String, String> environment,
        Cuda cuda,
        EngineOptions engine) {

    /** Maximum replicas. */
    public static final int MAX_REPLICAS = 64;

    private static final Set<String> OWN_VARIABLES = Set.of(Roseinfer.PROFILER_LIBRARY, Roseinfer.SIM_FAULTS);

    /** Where a model runs. */
    public enum Device {
        /** The best device there is. */
        AUTO,
        CPU,
        CUDA,
        /** A fake model whose tokens are hashes: the scheduler without the arithmetic. */
        SIM
    }

    /**
     * Where a model runs, and on how many devices at once.
     *
     * @param device the kind of device
     * @param threads processor threads, shared out among replicas; 0 takes one per processor
     * @param replicas how many serve together, each with a loop, a scheduler and a KV pool of its own
     * @param gpus the GPUs by index, one for each replica; empty for that of {@link Cuda#index} and those behind it
     * @param routing which replica serves a request
     */
    public record Placement(Device device, int threads, int replicas, List<Integer> gpus, RoutingPolicy routing) {
        public Placement {
            Objects.requireNonNull(device, "device");
            gpus = List.copyOf(Objects.requireNonNull(gpus, "gpus"));
            Objects.requireNonNull(routing, "routing");
            if (threads < 0) {
                throw new BadInput(
                        "threads is " + threads + "; it must be positive, or 0 for as many as there are cores");
            }
            BadInput.require(replicas >= 1 && replicas <= MAX_REPLICAS, "replicas", replicas, "1 to " + MAX_REPLICAS);
            if (!gpus.isEmpty()
                    && (gpus.size() != replicas || gpus.stream().distinct().count() != replicas)) {
                throw new BadInput("gpus is " + gpus + " for " + replicas + " replicas; each needs one of its own");
            }
        }

        /** One replica. */
        static Placement on(Device device) {
            return new Placement(device, 0, 1, List.of(), RoutingPolicy.pull());
        }
    }

    /**
     * Settings for CUDA.
     *
     * @param index which of the visible GPUs
     * @param graphs whether decode steps are replayed as graphs
     * @param pagedAttention whether a sequence's keys and values rest in blocks all over the pool; otherwise each sequence has
     *     one contiguous region as long as the model's context
     * @param profilerRanges whether a profiler that has started this process is shown what the engine does
     * @param batchInvariant whether results are the same to the bit whatever the batch, as they always are on the CPU
     * @param keys how keys and values are held
     */
    public record Cuda(
            int index,
            boolean graphs,
            boolean pagedAttention,
            boolean profilerRanges,
            boolean batchInvariant,
            KvPrecision keys) {

        public Cuda {
            Objects.requireNonNull(keys, "keys");
        }

        /** The first GPU, with graphs and paged attention, without ranges, for speed rather than for equal bits. */
        public static Cuda defaults() {
            return new Cuda(0, true, true, false, false, KvPrecision.AUTO);
        }
    }

    public Settings {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(placement, "placement");
        Objects.requireNonNull(precision, "precision");
        if (maxModelLen < 0) {
            throw new BadInput("maxModelLen is " + maxModelLen + "; it must be positive, or 0 for the model's context");
        }
        Set<String> read = HubSettings.read(Objects.requireNonNull(environment, "environment"));
        environment = environment.entrySet().stream()
                .filter(variable -> read.contains(variable.getKey()) || OWN_VARIABLES.contains(variable.getKey()))
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
        Objects.requireNonNull(cuda, "cuda");
        Objects.requireNonNull(engine, "engine");
    }

    /** A model on the best device, with everything else at its default and the process's own environment. */
    public static Settings of(String model) {
        return new Settings(
                model,
                Placement.on(Device.AUTO),
                Precision.AUTO,
                0,
                false,
                false,
                System.getenv(),
                Cuda.defaults(),
                EngineOptions.defaults());
    }

    /** The kind of device to run on. */
    public Device device() {
        return placement.device();
    }

    /** Processor threads; 0 takes one per processor. */
    public int threads() {
        return placement.threads();
    }

    public Settings withPlacement(Placement value) {
        return new Settings(model, value, precision, maxModelLen, tokenIdsOnly, offline, environment, cuda, engine);
    }

    public Settings withDevice(Device value) {
        return withPlacement(
                new Placement(value, placement.threads, placement.replicas, placement.gpus, placement.routing));
    }

    public Settings withPrecision(Precision value) {
        return new Settings(model, placement, value, maxModelLen, tokenIdsOnly, offline, environment, cuda, engine);
    }

    public Settings withThreads(int value) {
        return withPlacement(
                new Placement(placement.device, value, placement.replicas, placement.gpus, placement.routing));
    }

    /** Returns the same settings with a shorter context; 0 is the model's own. */
    public Settings withMaxModelLen(int value) {
        return new Settings(model, placement, precision, value, tokenIdsOnly, offline, environment, cuda, engine);
    }

    /** Returns the same settings for a model that is given token ids: a tokenizer that cannot be read is a warning. */
    public Settings withTokenIdsOnly(boolean value) {
        return new Settings(model, placement, precision, maxModelLen, value, offline, environment, cuda, engine);
    }

    public Settings withOffline(boolean value) {
        return new Settings(model, placement, precision, maxModelLen, tokenIdsOnly, value, environment, cuda, engine);
    }

    public Settings withEnvironment(Map<String, String> value) {
        return new Settings(model, placement, precision, maxModelLen, tokenIdsOnly, offline, value, cuda, engine);
    }

    public Settings withCuda(Cuda value) {
        return new Settings(
                model, placement, precision, maxModelLen, tokenIdsOnly, offline, environment, value, engine);
    }

    public Settings withEngine(EngineOptions value) {
        return new Settings(model, placement, precision, maxModelLen, tokenIdsOnly, offline, environment, cuda, value);
    }

    /** Returns all settings; of the environment the names alone. */
    @Override
    public String toString() {
        return "Settings[model=" + model + ", placement=" + placement + ", precision=" + precision
                + ", maxModelLen=" + maxModelLen + ", tokenIdsOnly=" + tokenIdsOnly + ", offline="
                + offline + ", environment=" + new TreeSet<>(environment.keySet()) + ", cuda=" + cuda + ", engine="
                + engine + "]";
    }
}
