package io.roseinfer;

import io.roseinfer.Settings.Device;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The device to run on and its options. An option without effect on the actual device is listed by {@link #ignored};
 * {@link #inForce} lists the values that apply instead. An empty option leaves the choice to the device.
 *
 * @param device the kind of device
 * @param gpus the GPUs by index, one per replica; if there are fewer, the following GPUs are used as well
 * @param precision the format of the weights
 * @param kvCache the format of the KV cache
 * @param threads CPU threads, shared by the replicas; 0 is one per core
 * @param pagedAttention whether the KV cache of a sequence is in blocks scattered over the pool; otherwise each
 *     sequence has one contiguous region as long as the model's context
 * @param cudaGraph whether decode steps are replayed as CUDA graphs
 * @param profilerRanges whether the engine reports NVTX ranges to the profiler that started this process
 * @param batchInvariant whether results are bit-identical regardless of the batch, as they always are on the CPU
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
     * @param name the option's name in result files
     * @param asked the value without effect
     * @param why the reason, as a clause that follows a colon
     */
    public record Ignored(String name, Object asked, String why) {}

    private static final String OWN = "a custom device takes its options as the argument of its constructor";

    public DeviceOptions {
        Objects.requireNonNull(device, "device");
        gpus = List.copyOf(Objects.requireNonNull(gpus, "gpus"));
        Objects.requireNonNull(precision, "precision");
        Objects.requireNonNull(kvCache, "kvCache");
        CpuOptions.requireThreads(threads);
        Objects.requireNonNull(pagedAttention, "pagedAttention");
        Objects.requireNonNull(cudaGraph, "cudaGraph");
        Objects.requireNonNull(batchInvariant, "batchInvariant");
    }

    /** Returns options that leave everything but the device to the defaults. */
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
     * Returns the options that apply on a device.
     *
     * @param on the device that runs, which is not {@link Device#AUTO}
     */
    public DeviceOptions inForce(Device on) {
        Objects.requireNonNull(on, "on");
        boolean onCuda = on == Device.CUDA;
        boolean onCustom = on == Device.CUSTOM;
        return new DeviceOptions(
                on,
                onCuda ? gpus : List.of(),
                on == Device.SIM || onCustom ? Precision.AUTO : precision,
                onCuda ? kvCache : KvPrecision.AUTO,
                on == Device.CPU ? threads : 0,
                Optional.of(!onCuda || pagedAttention.orElse(true)),
                onCustom ? Optional.empty() : Optional.of(onCuda && cudaGraph.orElse(true)),
                onCuda && profilerRanges,
                onCustom ? Optional.empty() : Optional.of(!onCuda || batchInvariant.orElse(false)));
    }

    /** Returns the options without effect on a device, that is, those that differ from {@link #inForce}. */
    public List<Ignored> ignored(Device on) {
        DeviceOptions used = inForce(on);
        String kv = on == Device.SIM ? "it has no KV cache" : "the KV cache is fp32 there";
        Stream<Ignored> ofEngine = Stream.concat(
                ignored("paged_attn", pagedAttention, used.pagedAttention, "attention is always paged there"),
                ignored("nvtx", profilerRanges, used.profilerRanges, "profiler ranges need CUDA"));
        Stream<Ignored> ofDevice = Stream.of(
                        ignored("cuda_graph", cudaGraph, used.cudaGraph, "graphs need CUDA"),
                        ignored("kv_cache_dtype", kvCache, used.kvCache, kv),
                        ignored(
                                "batch_invariant",
                                batchInvariant,
                                used.batchInvariant,
                                "results are batch-invariant there"),
                        ignored("threads", threads, used.threads, "threads apply to the CPU only"),
                        ignored("dtype", precision, used.precision, "it has no weights"),
                        ignored("gpus", gpus, used.gpus, "GPUs need CUDA"))
                .flatMap(each -> each)
                .map(each -> on == Device.CUSTOM ? new Ignored(each.name, each.asked, OWN) : each);
        return Stream.concat(ofEngine, ofDevice).toList();
    }

    private static Stream<Ignored> ignored(String name, Object asked, Object used, String why) {
        return ignored(name, Optional.of(asked), Optional.of(used), why);
    }

    private static <T> Stream<Ignored> ignored(String name, Optional<T> asked, Optional<T> used, String why) {
        return asked.filter(value -> !used.equals(asked)).map(value -> new Ignored(name, value, why)).stream();
    }

    /** Returns a copy with another kind of device. */
    public DeviceOptions withDevice(Device value) {
        return new DeviceOptions(
                value, gpus, precision, kvCache, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    /** Returns a copy with other GPUs, by index. */
    public DeviceOptions withGpus(List<Integer> value) {
        return new DeviceOptions(
                device, value, precision, kvCache, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    /** Returns a copy with another format of the weights. */
    public DeviceOptions withPrecision(Precision value) {
        return new DeviceOptions(
                device, gpus, value, kvCache, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    /** Returns a copy with another format of the KV cache. */
    public DeviceOptions withKvCache(KvPrecision value) {
        return new DeviceOptions(
                device, gpus, precision, value, threads, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    /**
     * Returns a copy with a number of CPU threads; 0 is one per core.
     *
     * @throws BadInput unless it is 0 to 1,024
     */
    public DeviceOptions withThreads(int value) {
        return new DeviceOptions(
                device, gpus, precision, kvCache, value, pagedAttention, cudaGraph, profilerRanges, batchInvariant);
    }

    /** Returns a copy with paged attention on or off. */
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

    /** Returns a copy with CUDA graphs on or off. */
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

    /** Returns a copy with NVTX ranges on or off. */
    public DeviceOptions withProfilerRanges(boolean value) {
        return new DeviceOptions(
                device, gpus, precision, kvCache, threads, pagedAttention, cudaGraph, value, batchInvariant);
    }

    /** Returns a copy with batch-invariant results on CUDA or not. */
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
