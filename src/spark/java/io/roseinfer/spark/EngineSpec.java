package io.roseinfer.spark;

import java.io.Serializable;
import java.util.Objects;

/**
 * The settings of the engine in each executor; tasks with equal specs share one.
 *
 * @param model a directory that every executor can read, a hub id, {@code builtin:tiny} or {@code random:NAME}
 * @param device {@code auto}, {@code cpu}, {@code cuda}, {@code cuda:1} or {@code cuda:0,cuda:1}, or {@code sim};
 *     {@code auto} and {@code cuda} use the GPUs assigned by Spark, if any
 * @param dtype the format of the weights, {@code auto} or a value of {@code --dtype}
 * @param threads CPU threads; 0 is one per core, which is too many if executors share a machine
 * @param maxBatchSize maximum rows in a decode step
 * @param kvBlocks KV blocks in the pool; 0 lets the device choose
 * @param batchInvariant whether a GPU's results are bit-identical regardless of the batch, as the CPU's always are
 * @param offline whether downloads are forbidden
 */
public record EngineSpec(
        String model,
        String device,
        String dtype,
        int threads,
        int maxBatchSize,
        int kvBlocks,
        boolean batchInvariant,
        boolean offline)
        implements Serializable {
    /** Default of the maximum rows in a decode step. */
    public static final int DEFAULT_BATCH_SIZE = 64;

    public EngineSpec {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(dtype, "dtype");
    }

    /** Returns the spec of a model on the best device. */
    public static EngineSpec of(String model) {
        JavaVersion.require();
        return new EngineSpec(model, "auto", "auto", 0, DEFAULT_BATCH_SIZE, 0, false, false);
    }

    public EngineSpec withDevice(String value) {
        return new EngineSpec(model, value, dtype, threads, maxBatchSize, kvBlocks, batchInvariant, offline);
    }

    public EngineSpec withDtype(String value) {
        return new EngineSpec(model, device, value, threads, maxBatchSize, kvBlocks, batchInvariant, offline);
    }

    public EngineSpec withThreads(int value) {
        return new EngineSpec(model, device, dtype, value, maxBatchSize, kvBlocks, batchInvariant, offline);
    }

    public EngineSpec withMaxBatchSize(int value) {
        return new EngineSpec(model, device, dtype, threads, value, kvBlocks, batchInvariant, offline);
    }

    public EngineSpec withKvBlocks(int value) {
        return new EngineSpec(model, device, dtype, threads, maxBatchSize, value, batchInvariant, offline);
    }

    public EngineSpec withBatchInvariant(boolean value) {
        return new EngineSpec(model, device, dtype, threads, maxBatchSize, kvBlocks, value, offline);
    }

    public EngineSpec withOffline(boolean value) {
        return new EngineSpec(model, device, dtype, threads, maxBatchSize, kvBlocks, batchInvariant, value);
    }
}
