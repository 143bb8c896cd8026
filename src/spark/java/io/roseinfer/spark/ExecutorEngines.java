package io.roseinfer.spark;

import io.roseinfer.engine.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The engines of this JVM, one for each spec and set of GPUs. All tasks of an executor feed the same, so that the tail of one partition
 * is filled by the others. A plugin or the JVM's end closes them.
 */
final class ExecutorEngines {
    private record Key(EngineSpec spec, List<Integer> gpus) {}

    private static final Map<Key, OpenEngine> OPEN = new ConcurrentHashMap<>();

    /** The GPUs that Spark gave the executor, as the plugin heard; without a plugin each task knows its own. */
    private static volatile Optional<List<Integer>> executorGpus = Optional.empty();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(ExecutorEngines::closeAll, "roseinfer-close"));
    }

    private ExecutorEngines() {}

    static void giveGpus(List<Integer> gpus) {
        executorGpus = Optional.of(List.copyOf(gpus));
    }

    private static Key key(EngineSpec spec, List<Integer> taskGpus) {
        return new Key(spec, EngineSettings.gpus(spec, executorGpus.orElse(taskGpus)));
    }

    /**
     * The engine of a spec; opened by the first who asks, while others who ask for the same wait. One that has failed is replaced.
     *
     * @param taskGpus the GPUs that Spark gave the task
     */
    static OpenEngine get(EngineSpec spec, List<Integer> taskGpus) {
        Key key = key(spec, taskGpus);
        OpenEngine open = openUnlessThere(key);
        if (open.hasFailed()) {
            OPEN.remove(key, open);
            open.engine().close();
            open = openUnlessThere(key);
        }
        return open;
    }

    private static OpenEngine openUnlessThere(Key key) {
        return OPEN.computeIfAbsent(key, it -> OpenEngine.open(EngineSettings.of(it.spec(), it.gpus())));
    }

    /** Takes an engine that somebody else has opened. */
    static void put(EngineSpec spec, Engine engine) {
        OpenEngine before = OPEN.put(
                key(spec, List.of()),
                OpenEngine.of(engine, EngineSettings.of(spec, List.of()).engine()));
        if (before != null) {
            before.engine().close();
        }
    }

    static List<Engine> all() {
        return OPEN.values().stream().map(OpenEngine::engine).toList();
    }

    /** Closes the engines; what they still generate ends, and its tasks fail. */
    static void closeAll() {
        for (Key key : new ArrayList<>(OPEN.keySet())) {
            Optional.ofNullable(OPEN.remove(key))
                    .ifPresent(open -> open.engine().close());
        }
        executorGpus = Optional.empty();
    }
}
