package io.roseinfer.backend.sim;

import java.util.function.LongConsumer;

/**
 * Options of a simulated device.
 *
 * @param seed seed of the token hash
 * @param maxInFlight maximum steps in flight
 * @param readBack whether a token depends on every token of its row, read through the block table; else on the row's last token and length
 *     only, at a cost independent of the context
 * @param shapesOnly whether steps are {@link io.roseinfer.backend.StepInputs#ofShapes} and there is no KV pool; tokens are those without
 *     {@code readBack}
 * @param onStep called with the step number at the start of every step, for tests that advance a clock or inject failures
 * @param faults faults by prompt
 */
public record SimOptions(
        long seed, int maxInFlight, boolean readBack, boolean shapesOnly, LongConsumer onStep, SimFaults faults) {

    /** Returns the defaults: seed 0, one step at a time, tokens read back, no faults. */
    public static SimOptions defaults() {
        return new SimOptions(0, 1, true, false, step -> {}, SimFaults.NONE);
    }

    public SimOptions withSeed(long value) {
        return new SimOptions(value, maxInFlight, readBack, shapesOnly, onStep, faults);
    }

    public SimOptions withMaxInFlight(int value) {
        return new SimOptions(seed, value, readBack, shapesOnly, onStep, faults);
    }

    public SimOptions withReadBack(boolean value) {
        return new SimOptions(seed, maxInFlight, value, shapesOnly, onStep, faults);
    }

    /** Returns options for steps of shapes only. */
    public SimOptions ofShapes() {
        return new SimOptions(seed, maxInFlight, false, true, onStep, faults);
    }

    public SimOptions withOnStep(LongConsumer value) {
        return new SimOptions(seed, maxInFlight, readBack, shapesOnly, value, faults);
    }

    public SimOptions withFaults(SimFaults value) {
        return new SimOptions(seed, maxInFlight, readBack, shapesOnly, onStep, value);
    }
}
