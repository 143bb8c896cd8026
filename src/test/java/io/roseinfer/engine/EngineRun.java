package io.roseinfer.engine;

import java.util.function.LongFunction;

/** {@link EngineSimulation} for callers in another class loader: maps a seed to a description of its run. */
final class EngineRun implements LongFunction<String> {
    @Override
    public String apply(long seed) {
        return EngineSimulation.run(seed, false) + " " + EngineSimulation.run(seed, true);
    }
}
