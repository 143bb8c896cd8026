package io.roseinfer.engine;

import io.roseinfer.base.RoseException.EngineStopped;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that tokenize prompts off the submit path. The queue before them is bounded by the requests in flight: one that is
 * cancelled or whose deadline passes leaves it at once, and its tokenizer stops.
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

    /** Takes an ended request out of the queue, or interrupts the worker that has it unless that is the caller; harmless if none does. */
    synchronized void remove(LiveRequest request) {
        waiting.remove(request);
        for (int i = 0; i < running.length; i++) {
            if (request.equals(running[i]) && !threads[i].equals(Thread.currentThread())) {
                threads[i].interrupt();
            }
        }
    }

    /** Requests whose prompts are not ids yet. */
    synchronized int size() {
        long worked = Arrays.stream(running)
                .filter(request -> request != null && request.isTokenizing())
                .count();
        return waiting.size() + (int) worked;
    }

    /**
     * Lets the workers go and interrupts those that tokenize a prompt, without waiting for them. Harmless if it was done
     * before.
     *
     * @param end is given each request that is queued or being worked on
     */
    synchronized void stop(Consumer<LiveRequest> end) {
        stopped = true;
        notifyAll();
        while (!waiting.isEmpty()) {
            end.accept(waiting.removeFirst());
        }
        for (int i = 0; i < running.length; i++) {
            LiveRequest request = running[i];
            if (request != null) {
                end.accept(request);
                threads[i].interrupt();
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
        // An interrupt was meant for the request before.
        boolean unused = Thread.interrupted();
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
