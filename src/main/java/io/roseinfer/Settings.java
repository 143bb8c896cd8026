package io.roseinfer;

import io.roseinfer.backend.Precision;
import io.roseinfer.engine.EngineOptions;
import java.util.Map;
import java.util.Objects;

/**
 * What to load and where to run it.
 *
 * @param model a directory, a hub id, {@code builtin:tiny}, {@code builtin:chat} or {@code random:NAME}; see {@link io.roseinfer.hub.ModelRef}
 * @param device where to run
 * @param precision how weights are held
 * @param threads processor threads; 0 takes one per processor
 * @param offline forbids downloads
 * @param environment where {@code HF_HOME} and its kin are looked up
 * @param cuda what only matters on CUDA
 * @param engine the engine's knobs, which size the runner
 */
public record Settings(
        String model,
        Device device,
        Precision precision,
        int threads,
        boolean offline,
        Map<String, String> environment,
        Cuda cuda,
        EngineOptions engine) {

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
     * Settings for CUDA.
     *
     * @param index which of the visible GPUs
     * @param graphs whether decode steps are replayed as graphs
     * @param pagedAttention whether a sequence's keys and values rest in blocks all over the pool; otherwise each sequence has
     *     one contiguous region as long as the model's context
     * @param profilerRanges whether a profiler that has started this process is shown what the engine does
     * @param batchInvariant whether results are the same to the bit whatever the batch, as they always are on the CPU
     */
    public record Cuda(
            int index, boolean graphs, boolean pagedAttention, boolean profilerRanges, boolean batchInvariant) {

        /** The first GPU, with graphs and paged attention, without ranges, for speed rather than for equal bits. */
        public static Cuda defaults() {
            return new Cuda(0, true, true, false, false);
        }
    }

    public Settings {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(precision, "precision");
        environment = Map.copyOf(Objects.requireNonNull(environment, "environment"));
        Objects.requireNonNull(cuda, "cuda");
        Objects.requireNonNull(engine, "engine");
    }

    /** A model on the best device, with everything else at its default and the process's own environment. */
    public static Settings of(String model) {
        return new Settings(
                model,
                Device.AUTO,
                Precision.AUTO,
                0,
                false,
                System.getenv(),
                Cuda.defaults(),
                EngineOptions.defaults());
    }

    public Settings withDevice(Device value) {
        return new Settings(model, value, precision, threads, offline, environment, cuda, engine);
    }

    public Settings withPrecision(Precision value) {
        return new Settings(model, device, value, threads, offline, environment, cuda, engine);
    }

    public Settings withThreads(int value) {
        return new Settings(model, device, precision, value, offline, environment, cuda, engine);
    }

    public Settings withOffline(boolean value) {
        return new Settings(model, device, precision, threads, value, environment, cuda, engine);
    }

    public Settings withEnvironment(Map<String, String> value) {
        return new Settings(model, device, precision, threads, offline, value, cuda, engine);
    }

    public Settings withCuda(Cuda value) {
        return new Settings(model, device, precision, threads, offline, environment, value, engine);
    }

    public Settings withEngine(EngineOptions value) {
        return new Settings(model, device, precision, threads, offline, environment, cuda, value);
    }
}
