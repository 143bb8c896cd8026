package io.roseinfer.engine;

import java.util.Optional;
import java.util.function.LongFunction;

/** A simulation for callers in another class loader; its interface uses only types of the JDK. */
final class SeedRun implements LongFunction<Optional<String>> {
    @Override
    public Optional<String> apply(long seed) {
        try {
            Simulation.run(seed);
            OnlineSimulation.run(seed);
            EngineSimulation.run(seed, false);
            EngineSimulation.run(seed, true);
            return Optional.empty();
        } catch (AssertionError e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
