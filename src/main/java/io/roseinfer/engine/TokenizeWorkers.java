package io.roseinfer.engine;

import io.roseinfer.base.RoseException.EngineStopped;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Threads that tokenize prompts off the submit path. The queue before them is bounded by the requests in flight. */
final class TokenizeWorkers implements AutoCloseable {
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
            workers.execute(() -> work.accept(request));
        } catch (RejectedExecutionException e) {
            throw new EngineStopped("the engine is closed; open another one", e);
        }
    }

    /** Tokenizes what was accepted, then stops. */
    @Override
    public void close() {
        if (workers != null) {
            workers.close();
        }
    }
}
