package io.roseinfer.engine;

import io.roseinfer.base.RoseException.EngineStopped;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Threads that tokenize prompts off the submit path. The queue before them is bounded by the requests in flight. */
final class TokenizeWorkers {
    private record Task(LiveRequest request, Consumer<LiveRequest> work) implements Runnable {
        @Override
        public void run() {
            work.accept(request);
        }
    }

    private final @Nullable ExecutorService workers;
    private final Consumer<LiveRequest> work;

    TokenizeWorkers(int count, Consumer<LiveRequest> work) {
        this.work = work;
        this.workers = count == 0
                ? null
                : Executors.newFixedThreadPool(
                        count,
                        Thread.ofPlatform()
                                .name("roseinfer-tokenize-", 0)
                                .daemon()
                                .factory());
    }

    boolean isEmpty() {
        return workers == null;
    }

    void submit(LiveRequest request) {
        if (workers == null) {
            throw new IllegalStateException("there are no tokenize workers");
        }
        try {
            workers.execute(new Task(request, work));
        } catch (RejectedExecutionException e) {
            throw new EngineStopped("the engine is closed; open another one", e);
        }
    }

    /** Stops when the prompts that are being tokenized are done; returns the requests whose turn has not come. */
    List<LiveRequest> stop() {
        List<Runnable> waiting = workers == null ? List.of() : workers.shutdownNow();
        return waiting.stream().map(task -> ((Task) task).request()).toList();
    }
}
