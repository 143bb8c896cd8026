package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.observe.RequestObserver;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Threads that compute the masks of grammars, so that the engine's thread does not. They start with the first grammar. */
final class MaskWorkers {
    private static final int MAX_THREADS = 8;

    private final Clock clock;
    private final RequestObserver observer;
    private final Thread[] threads;
    /** Bounded by the requests in flight: each has at most one mask being computed. */
    private final ArrayDeque<GrammarMasks> waiting = new ArrayDeque<>();

    private boolean started;
    private boolean stopped;

    /**
     * Creates workers that have not been started.
     *
     * @param observer notified of the time of each mask
     */
    MaskWorkers(int count, Clock clock, RequestObserver observer) {
        this.clock = clock;
        this.observer = observer;
        this.threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] =
                    Thread.ofPlatform().name("roseinfer-masks-" + i).daemon().unstarted(this::run);
        }
    }

    /** Returns the number of workers for a machine: half of the processors, at most {@value #MAX_THREADS}. */
    static int count(int processors) {
        return Math.clamp(processors / 2, 1, MAX_THREADS);
    }

    /** Starts the workers that have not been started, unless they have been stopped; can be repeated if it throws. */
    synchronized void start() {
        if (started || stopped) {
            return;
        }
        for (Thread thread : threads) {
            if (thread.getState() == Thread.State.NEW) {
                thread.start();
            }
        }
        started = true;
    }

    /** Queues a mask. */
    synchronized void submit(GrammarMasks masks) {
        waiting.addLast(masks);
        notify();
    }

    /** Stops the workers, without waiting for them; called when no loop uses the masks any more. */
    synchronized void stop() {
        stopped = true;
        waiting.clear();
        notifyAll();
    }

    private void run() {
        for (GrammarMasks masks = next(); masks != null; masks = next()) {
            long startNanos = clock.nanos();
            masks.compute();
            observer.maskComputed(masks.request(), clock.nanos() - startNanos);
        }
    }

    /** Waits for the next mask to compute; returns null when the worker must stop. */
    private synchronized @Nullable GrammarMasks next() {
        while (waiting.isEmpty() && !stopped) {
            try {
                wait();
            } catch (InterruptedException goOn) {
                // There is no reason for an interrupt here; stop() ends the worker.
            }
        }
        return waiting.pollFirst();
    }
}
