package io.roseinfer.backend;

import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.Optional;

/**
 * A loaded model on a device: weights, KV pool and scratch memory, and the forward pass over them. One thread uses it.
 *
 * <p>A step appends keys and values of every input token to its slot, attends causally over each row's block list, and samples
 * one token for every row that asks. Rows are independent: what a row yields does not depend on its neighbours.
 */
public interface ModelRunner extends AutoCloseable {

    ModelSpec spec();

    KvGeometry kv();

    RunnerLimits limits();

    /** Steps that may be submitted before the first of them is awaited; 1 means submit and await alternate. */
    int maxInFlight();

    /** Allocates inputs of the size of {@link #limits()}, in whatever memory this device reads best. Called at start only. */
    StepInputs newInputs();

    /** Allocates outputs of the size of {@link #limits()}. Called at start only. */
    StepOutputs newOutputs();

    /** Starts a step and returns. {@code inputs} and {@code outputs} belong to the runner until the step is awaited. */
    void submit(StepInputs inputs, StepOutputs outputs);

    /**
     * Waits for the oldest submitted step; its outputs are then filled.
     *
     * @throws io.roseinfer.base.RoseException.DeviceFailure if the device failed
     */
    void await();

    /**
     * Waits until the device is as fast as it gets; what is not ready in time goes on beside the first steps. Nothing where a device
     * is fast from the start. Called while no step is in flight.
     *
     * @param maxNanos longest wait for kernels without which steps would be many times slower
     * @param fastestNanos longest wait, of all, for those that gain a little more
     * @return whether it is as fast as it gets
     */
    default boolean warmUp(long maxNanos, long fastestNanos) {
        return true;
    }

    /** How the matrices are held, never {@link Precision#AUTO}; empty if the device has none. */
    default Optional<Precision> precision() {
        return Optional.empty();
    }

    /** Every allocation this runner made, largest first. */
    List<MemoryUse> memory();

    @Override
    void close();
}
