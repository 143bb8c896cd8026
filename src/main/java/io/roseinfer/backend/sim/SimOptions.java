package io.roseinfer.backend.sim;

import java.util.function.LongConsumer;

/**
 * How a simulated device behaves.
 *
 * @param seed of the hash that makes tokens
 * @param maxInFlight steps that may be submitted before one is awaited
 * @param readBack whether a token depends on every token of its row, read through the block table; without it a token depends on
 *     the row's last token and its length alone, and a step costs the host nothing that grows with the context
 * @param onStep called at the start of every step with its number, for tests that advance a clock or throw a device's failure
 * @param faults that prompts can ask for
 */
public record SimOptions(long seed, int maxInFlight, boolean readBack, LongConsumer onStep, SimFaults faults) {

    /** Seed 0, one step at a time, every token read back, no faults. */
    public static SimOptions defaults() {
        return new SimOptions(0, 1, true, step -> {}, SimFaults.NONE);
    }

    public SimOptions withSeed(long value) {
        return new SimOptions(value, maxInFlight, readBack, onStep, faults);
    }

    public SimOptions withMaxInFlight(int value) {
        return new SimOptions(seed, value, readBack, onStep, faults);
    }

    public SimOptions withReadBack(boolean value) {
        return new SimOptions(seed, maxInFlight, value, onStep, faults);
    }

    public SimOptions withOnStep(LongConsumer value) {
        return new SimOptions(seed, maxInFlight, readBack, value, faults);
    }

    public SimOptions withFaults(SimFaults value) {
        return new SimOptions(seed, maxInFlight, readBack, onStep, value);
    }
}
