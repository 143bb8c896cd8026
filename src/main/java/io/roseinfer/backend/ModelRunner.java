package io.roseinfer.backend;

import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.Optional;

/**
 * A loaded model on a device: weights, KV pool and scratch memory, and the forward pass over them. One thread uses it.
 *
 * <p>A step stores keys and values of every input token in its slot, attends causally over each row's block table, and samples after
 * every token for which a sample is requested: it draws a token, or reports the log-probability of a given one. Rows are independent: a row's results do not depend on other rows. A sample does not depend on
 * later tokens of its row, nor on how many samples the row has.
 */
public interface ModelRunner extends AutoCloseable {

    ModelSpec spec();

    KvGeometry kv();

    RunnerLimits limits();

    /** Returns the maximum steps in flight; 1 means that submit and await alternate. */
    int maxInFlight();

    /**
     * Returns the maximum tokens, over all rows, of a step with drafts: rows of several tokens that draw after each of them. With
     * more tokens, drafts would not pay. 0 if steps cannot verify drafts.
     */
    default int maxDraftedTokens() {
        return 0;
    }

    /** Allocates inputs of the size of {@link #limits()}, in memory suited to the device. Called at start only. */
    StepInputs newInputs();

    /** Allocates outputs of the size of {@link #limits()}. Called at start only. */
    StepOutputs newOutputs();

    /** Starts a step and returns. {@code inputs} and {@code outputs} belong to the runner until the step is awaited. */
    void submit(StepInputs inputs, StepOutputs outputs);

    /**
     * Starts a step with samples, but not its sampling: masks and biases may be added to {@code inputs} until {@link #submitSampling}, which
     * must be the next call. A runner that overlaps the two overrides both methods; others start the whole step then.
     */
    default void submitPass(StepInputs inputs, StepOutputs outputs) {}

    /** Starts the sampling of the step that {@link #submitPass} started with the same inputs and outputs. */
    default void submitSampling(StepInputs inputs, StepOutputs outputs) {
        submit(inputs, outputs);
    }

    /**
     * Waits for the oldest submitted step; its outputs are then filled.
     *
     * @throws io.roseinfer.base.RoseException.DeviceFailure if the device failed
     */
    void await();

    /**
     * Waits until the device has reached full speed; otherwise warm-up continues during the first steps. Does nothing on devices that need no
     * warm-up. Called while no step is in flight.
     *
     * @param maxNanos maximum wait for kernels without which steps would be many times slower
     * @param fastestNanos maximum total wait for slightly faster kernels
     * @return whether full speed is reached
     */
    default boolean warmUp(long maxNanos, long fastestNanos) {
        return true;
    }

    /** Returns the weight precision, never {@link Precision#AUTO}; empty for devices without weights. */
    default Optional<Precision> precision() {
        return Optional.empty();
    }

    /** Returns the runner's allocations, largest first. */
    List<MemoryUse> memory();

    @Override
    void close();
}
