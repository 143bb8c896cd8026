package io.roseinfer.engine;

import io.roseinfer.base.RoseException.EngineStopped;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that tokenize prompts and compile grammars outside the submit call. They start with the first request. Their
 * queue is bounded by the requests in flight. A request that is cancelled or expires is removed immediately, and its
 * tokenizer is interrupted.
 */
final class TokenizeWorkers {
    private final Consumer<LiveRequest> work;
    private final Thread[] threads;
    private final @Nullable LiveRequest[] running;
    private final LinkedHashSet<LiveRequest> waiting = new LinkedHashSet<>();
    private boolean started;
    private boolean stopped;

    /**
     * Creates workers that have not been started.
     *
     * @param count number of threads, may be 0
     * @param work applied to each request; must not throw
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

    /** Starts the threads that have not been started; can be repeated if it throws. */
    private void start() {
        for (Thread thread : threads) {
            if (thread.getState() == Thread.State.NEW) {
                thread.start();
            }
        }
        started = true;
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
        if (!started) {
            start();
        }
        waiting.add(request);
        notify();
    }

    /**
     * Removes an ended request from the queue, or interrupts the worker that tokenizes it unless that is the caller.
     */
    synchronized void remove(LiveRequest request) {
        waiting.remove(request);
        for (int i = 0; i < running.length; i++) {
            if (request.equals(running[i]) && !threads[i].equals(Thread.currentThread())) {
                threads[i].interrupt();
            }
        }
    }

    /** Returns the number of requests that are not tokenized yet. */
    synchronized int size() {
        long worked = Arrays.stream(running)
                .filter(request -> request != null && request.isTokenizing())
                .count();
        return waiting.size() + (int) worked;
    }

    /**
     * Stops the workers and interrupts those that are tokenizing, without waiting for them. Can be repeated.
     *
     * @param end applied to each request that is queued or being tokenized
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

    /** Waits for the next request of a worker that has finished the previous one; returns null when it must stop. */
    private synchronized @Nullable LiveRequest next(int worker) {
        running[worker] = null;
        // An interrupt was meant for the previous request.
        boolean unused = Thread.interrupted();
        while (waiting.isEmpty() && !stopped) {
            try {
                wait();
            } catch (InterruptedException goOn) {
                // There is no reason for an interrupt here; stop() ends the worker.
            }
        }
        LiveRequest request = waiting.isEmpty() ? null : waiting.removeFirst();
        running[worker] = request;
        return request;
    }
}
