package io.roseinfer;

import io.roseinfer.Settings.Device;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The device to run on, and what is asked of it. An option without effect on the device that runs is {@link #ignored} there;
 * {@link #inForce} has the values that apply instead. Where an option is empty, the device chooses.
 *
 * @param device the kind of device
 * @param gpus the GPUs by index, one for each replica; of one or none the following ones are taken as well
 * @param precision how weights are held
 * @param kvCache how keys and values are held
 * @param threads processor threads, shared out among replicas; 0 takes one per processor
 * @param pagedAttention whether a sequence's keys and values rest in blocks all over the pool; otherwise each sequence has
 *     one contiguous region as long as the model's context
 * @param cudaGraph whether decode steps are replayed as CUDA graphs
 * @param profilerRanges whether a profiler that has started this process is shown what the engine does
 * @param batchInvariant whether results are the same to the bit regardless of the batch, as they always are on the CPU
 */
public record DeviceOptions(
        Device device,
        List<Integer> gpus,
        Precision precision,
        KvPrecision kvCache,
        int threads,
        Optional<Boolean> pagedAttention,
        Optional<Boolean> cudaGraph,
        boolean profilerRanges,
        Optional<Boolean> batchInvariant) {

    /**
     * An option without effect.
     *
     * @param name the option as results name it
     * @param asked the value that has no effect
     * @param why the reason, in words that follow a colon
     */
    public record Ignored(String name, Object asked, String why) {}

    public DeviceOptions {
        Objects.requireNonNull(device, "device");
        gpus = List.copyOf(Objects.requireNonNull(gpus, "gpus"));
        Objects.requireNonNull(precision, "precision");
        Objects.requireNonNull(kvCache, "kvCache");
        BadInput.require(threads >= 0, "threads", threads, "positive, or 0 for as many as there are cores");
        Objects.requireNonNull(pagedAttention, "pagedAttention");
        Objects.requireNonNull(cudaGraph, "cudaGraph");
        Objects.requireNonNull(batchInvariant, "batchInvariant");
    }

    /** A device with its own choice of everything. */
    public static DeviceOptions of(Device device) {
        return new DeviceOptions(
                device,
                List.of(),
                Precision.AUTO,
                KvPrecision.AUTO,
                0,
                Optional.empty(),
                Optional.empty(),
                false,
                Optional.empty());
    }

    /**
     * Returns the options as they apply on a device.
     *
     * @param on the device that runs, which is not {@link Device#AUTO}
     */
    public DeviceOptions inForce(Device on) {
        boolean onCuda = on == Device.CUDA;
        return new DeviceOptions(
                on,
                onCuda ? gpus : List.of(),
                on == Device.SIM ? Precision.AUTO : precision,
                onCuda ? kvCache : KvPrecision.AUTO,
                on == Device.CPU ? threads : 0,
                Optional.of(!onCuda || pagedAttention.orElse(true)),
                Optional.of(onCuda && cudaGraph.orElse(true)),
                onCuda && profilerRanges,
                Optional.of(!onCuda || batchInvariant.orElse(false)));
    }

    /** Returns the options without effect on a device, that is, those whose values are not {@link #inForce}. */
    public List<Ignored> ignored(Device on) {
        DeviceOptions used = inForce(on);
        boolean onSim = on == Device.SIM;
        List<Ignored> all = new ArrayList<>();
        differing(pagedAttention, used.pagedAttention)
                .ifPresent(asked -> all.add(new Ignored("paged_attn", asked, "attention is always paged there")));
        differing(cudaGraph, used.cudaGraph)
                .ifPresent(asked -> all.add(new Ignored("cuda_graph", asked, "graphs need CUDA")));
        if (profilerRanges != used.profilerRanges) {
            all.add(new Ignored("nvtx", profilerRanges, "profiler ranges need CUDA"));
        }
        if (kvCache != used.kvCache) {
            String why = onSim ? "it holds no keys" : "keys and values are floats there";
            all.add(new Ignored("kv_cache_dtype", kvCache, why));
        }
        differing(batchInvariant, used.batchInvariant)
                .ifPresent(asked ->
                        all.add(new Ignored("batch_invariant", asked, "results never depend on the batch there")));
        if (threads != used.threads) {
            all.add(new Ignored("threads", threads, "threads are the cpu's"));
        }
        if (precision != used.precision) {
            all.add(new Ignored("dtype", precision, "it holds no weights"));
        }
        return all;
    }

    private static <T> Optional<T> differing(Optional<T> asked, Optional<T> used) {
        return asked.filter(value -> !used.equals(Optional.of(value)));
    }

    public DeviceOptions withDevice(Device value) {
        return new DeviceOptions(
                value, gpus, precision, kvCache, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    public DeviceOptions withGpus(List<Integer> value) {
        return new DeviceOptions(
                device, value, precision, kvCache, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    public DeviceOptions withPrecision(Precision value) {
        return new DeviceOptions(
                device, gpus, value, kvCache, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    public DeviceOptions withKvCache(KvPrecision value) {
        return new DeviceOptions(
                device, gpus, precision, value, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    public DeviceOptions withThreads(int value) {
        return new DeviceOptions(
                device, gpus, precision, kvCache, value, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    public DeviceOptions withPagedAttention(boolean value) {
        return new DeviceOptions(
                device,
                gpus,
                precision,
                kvCache,
                threads,
                Optional.of(value),
                cudaGraph,
                profilerRanges,
                batchInvariant);
    }

    public DeviceOptions withCudaGraph(boolean value) {
        return new DeviceOptions(
                device,
                gpus,
                precision,
                kvCache,
                threads,
                pagedAttention,
                Optional.of(value),
                profilerRanges,
                batchInvariant);
    }

    public DeviceOptions withProfilerRanges(boolean value) {
        return new DeviceOptions(
                device, gpus, precision, kvCache, threads, pagedAttention, cudaGraph, value, batchInvariant);
    }

    public DeviceOptions withBatchInvariant(boolean value) {
        return new DeviceOptions(
                device,
                gpus,
                precision,
                kvCache,
                threads,
                pagedAttention,
                cudaGraph,
                profilerRanges,
                Optional.of(value));
    }
}
