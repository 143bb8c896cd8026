package io.roseinfer.engine;

import io.roseinfer.base.RoseException.EngineStopped;
import java.util.LinkedHashSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that tokenize prompts off the submit path. The queue before them is bounded by the requests in flight: one that is
 * cancelled leaves it at once.
 */
final class TokenizeWorkers {
    private final Consumer<LiveRequest> work;
    private final Thread[] threads;
    private final @Nullable LiveRequest[] running;
    private final LinkedHashSet<LiveRequest> waiting = new LinkedHashSet<>();
    private boolean stopped;

    /**
     * Workers that have not been started.
     *
     * @param count how many; none are fine
     * @param work what is done to each request; must not throw
     */
    TokenizeWorkers(int count, Consumer<LiveRequest> work) {
        this.work = work;
        this.threads = new Thread[count];
        this.running = new LiveRequest[count];
        for (int i = 0; i < count; i++) {
            int worker = i;
            threads[i] =
                    Thread.ofPlatform().name("roseinfer-tokenize-" + i).daemon().unstarted(() -> run(worker));
        }
    }

    void start() {
        for (Thread thread : threads) {
            thread.start();
        }
    }

    boolean isEmpty() {
        return threads.length == 0;
    }

    /**
     * Queues a request.
     *
     * @throws EngineStopped if the workers have been stopped
     */
    synchronized void submit(LiveRequest request) {
        if (stopped) {
            throw new EngineStopped("the engine is closed; open another one");
        }
        waiting.add(request);
        notify();
    }

    /** Takes a request out of the queue; harmless if it is not there. */
    synchronized void remove(LiveRequest request) {
        waiting.remove(request);
    }

    /**
     * Lets the workers go when the prompts that are being tokenized are done, without waiting for that. Harmless if it was done
     * before.
     *
     * @param end is given each request that is queued or being worked on
     */
    synchronized void stop(Consumer<LiveRequest> end) {
        stopped = true;
        notifyAll();
        waiting.forEach(end);
        waiting.clear();
        for (int i = 0; i < running.length; i++) {
            LiveRequest request = running[i];
            if (request != null) {
                end.accept(request);
                running[i] = null;
            }
        }
    }

    private void run(int worker) {
        for (LiveRequest request = next(worker); request != null; request = next(worker)) {
            work.accept(request);
        }
    }

    /** The next request for a worker that is done with the one before it; null when it is to go. */
    private synchronized @Nullable LiveRequest next(int worker) {
        running[worker] = null;
        while (waiting.isEmpty() && !stopped) {
            try {
                wait();
            } catch (InterruptedException goOn) {
                // Nobody has a reason to interrupt it; stop() is how it ends.
            }
        }
        LiveRequest request = waiting.isEmpty() ? null : waiting.removeFirst();
        running[worker] = request;
        return request;
    }
}
