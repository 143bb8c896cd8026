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
 * The engines of this JVM, one for each spec and set of GPUs. All tasks of an executor feed the same one, so the tail of one partition is
 * filled by the others. They are closed by the plugin, or when the JVM ends.
 */
final class ExecutorEngines {
    private record Key(EngineSpec spec, List<Integer> gpus) {}

    /** Engines that are open or being opened. */
    private static final Map<Key, CompletableFuture<OpenEngine>> ENGINES = new ConcurrentHashMap<>();

    /** The GPUs that Spark gave the executor, as it tells the plugin; without a plugin each task knows its own. */
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
     * The engine of a spec. The first caller opens it while others wait; if that fails, it fails for all of them, and the next call tries
     * again. If the first caller is interrupted, as a killed task is, another opens it. An engine that has failed is replaced.
     *
     * @param taskGpus the GPUs that Spark gave the task
     */
    static OpenEngine get(EngineSpec spec, List<Integer> taskGpus) {
        return get(spec, taskGpus, OpenEngine::open);
    }

    /** As above, opened by a function. */
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
     * Opens an engine before there are tasks. If that fails, it is only logged: the first task fails for the same reason, which tells the
     * driver, while an executor that does not start tells nobody.
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

    /** Waits until another task has opened the engine; empty if that task was interrupted. */
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

    /** Takes an engine that the caller has opened, in place of the one that the spec had. */
    static void put(EngineSpec spec, Engine engine) {
        OpenEngine open =
                OpenEngine.of(engine, EngineSettings.of(spec, List.of()).engine());
        CompletableFuture<OpenEngine> before =
                ENGINES.put(key(spec, List.of()), CompletableFuture.completedFuture(open));
        if (before != null) {
            close(before);
        }
    }

    /** Those that are open. */
    static List<Engine> all() {
        return ENGINES.values().stream()
                .filter(opening -> opening.isDone() && !opening.isCompletedExceptionally())
                .map(opening -> opening.join().engine())
                .toList();
    }

    /** Closes the engines: the tasks that wait for rows of them fail. One that is being opened is closed once it is open. */
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
