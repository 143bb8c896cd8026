package io.roseinfer.spark;

import io.roseinfer.Settings;
import io.roseinfer.base.Printable;
import io.roseinfer.base.RoseException;
import io.roseinfer.engine.Engine;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The engines of this JVM, one per spec and set of GPUs. All tasks of an executor share an engine, so other tasks fill
 * it when one runs out of rows. The plugin closes the engines, or the JVM when it ends.
 */
final class ExecutorEngines {
    private record Key(EngineSpec spec, List<Integer> gpus) {}

    /** Engines that are open or being opened. */
    private static final Map<Key, CompletableFuture<OpenEngine>> ENGINES = new ConcurrentHashMap<>();

    /** The GPUs assigned to the executor, as reported to the plugin; without a plugin each task knows its own. */
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
     * Returns the engine of a spec. The first caller opens it while others wait. If that fails, it fails for all of
     * them, and the next call tries again. If the first caller is interrupted, as when its task is killed, another
     * opens it. A failed engine is replaced.
     *
     * @param taskGpus the GPUs assigned to the task
     */
    static OpenEngine get(EngineSpec spec, List<Integer> taskGpus) {
        return get(spec, taskGpus, OpenEngine::open);
    }

    /** Returns the engine of a spec, opened by a function. */
    static OpenEngine get(EngineSpec spec, List<Integer> taskGpus, Function<Settings, OpenEngine> opener) {
        Key key = key(spec, taskGpus);
        while (true) {
            CompletableFuture<OpenEngine> mine = new CompletableFuture<>();
            CompletableFuture<OpenEngine> there = ENGINES.putIfAbsent(key, mine);
            if (there == null) {
                return open(key, mine, opener);
            }
            Optional<OpenEngine> open = opened(there);
            if (open.isPresent() && !open.get().hasFailed()) {
                return open.get();
            }
            if (open.isPresent() && ENGINES.remove(key, there)) {
                open.get().engine().close();
            }
        }
    }

    /**
     * Opens an engine before tasks start. A failure is only logged: the first task fails for the same reason and
     * reports it to the driver, while an executor that does not start reports nothing.
     */
    static void openEarly(EngineSpec spec) {
        try {
            OpenEngine unused = get(spec, List.of());
        } catch (RoseException e) {
            System.getLogger("io.roseinfer").log(Level.WARNING, Printable.line(e.getMessage()));
        }
    }

    private static OpenEngine open(
            Key key, CompletableFuture<OpenEngine> opening, Function<Settings, OpenEngine> opener) {
        try {
            OpenEngine open = opener.apply(EngineSettings.of(key.spec(), key.gpus()));
            opening.complete(open);
            return open;
        } catch (RuntimeException | Error e) {
            ENGINES.remove(key, opening);
            if (Thread.currentThread().isInterrupted()) {
                boolean unused = opening.cancel(false);
            } else {
                opening.completeExceptionally(e);
            }
            throw e;
        }
    }

    /** Waits until another task has opened the engine; returns empty if that task was interrupted. */
    private static Optional<OpenEngine> opened(CompletableFuture<OpenEngine> opening) {
        try {
            return Optional.of(opening.join());
        } catch (CancellationException interrupted) {
            return Optional.empty();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** Replaces the engine of a spec by one that the caller has opened. */
    static void put(EngineSpec spec, Engine engine) {
        OpenEngine open =
                OpenEngine.of(engine, EngineSettings.of(spec, List.of()).engine());
        CompletableFuture<OpenEngine> before =
                ENGINES.put(key(spec, List.of()), CompletableFuture.completedFuture(open));
        if (before != null) {
            close(before);
        }
    }

    /** Returns the open engines. */
    static List<Engine> all() {
        return ENGINES.values().stream()
                .filter(opening -> opening.isDone() && !opening.isCompletedExceptionally())
                .map(opening -> opening.join().engine())
                .toList();
    }

    /** Closes all engines; tasks that wait for rows fail. An engine being opened is closed once it is open. */
    static void closeAll() {
        List<CompletableFuture<OpenEngine>> closing = new ArrayList<>();
        for (Key key : List.copyOf(ENGINES.keySet())) {
            Optional.ofNullable(ENGINES.remove(key)).ifPresent(closing::add);
        }
        closing.forEach(ExecutorEngines::close);
        executorGpus = Optional.empty();
    }

    private static void close(CompletableFuture<OpenEngine> opening) {
        CompletableFuture<Void> closed =
                opening.thenAccept(open -> open.engine().close());
        if (opening.isDone() && !opening.isCompletedExceptionally()) {
            closed.join();
        }
    }
}
