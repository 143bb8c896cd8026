package io.roseinfer.engine;

import java.util.function.LongFunction;

/** {@link EngineSimulation} as it can be called from another class loader: a seed gives what the run was like. */
final class EngineRun implements LongFunction<String> {
    @Override
    public String apply(long seed) {
        return EngineSimulation.run(seed, false) + " " + EngineSimulation.run(seed, true);
    }
}
