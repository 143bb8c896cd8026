package io.roseinfer.server;

import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.server.api.ApiError;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Who is served: everybody while the server is open, nobody new while it drains or once the engine is dead. */
final class RequestGate {
    /** What the server does; it only moves down this list. */
    enum State {
        OPEN,
        DRAINING,
        DEAD
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition empty = lock.newCondition();
    private final CompletableFuture<EngineStopped> death = new CompletableFuture<>();
    private State state = State.OPEN;
    private int inside;

    /** Counts a call in, whatever becomes of it. */
    void enter() {
        lock.lock();
        try {
            inside++;
        } finally {
            lock.unlock();
        }
    }

    /** Counts it out again. */
    void leave() {
        lock.lock();
        try {
            inside--;
            if (inside == 0) {
                empty.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Refuses a call if nobody is to be served now. Asked by a call that has been counted in, so that it is refused or waited for. */
    void requireOpen() {
        refusal().ifPresent(refused -> {
            throw refused;
        });
    }

    /** Why nobody is served now; empty while the gate is open. */
    Optional<ApiError> refusal() {
        return switch (state()) {
            case OPEN -> Optional.empty();
            case DRAINING -> Optional.of(ApiError.unavailable("the server is shutting down"));
            case DEAD -> Optional.of(ApiError.unavailable(death.join().getMessage()));
        };
    }

    State state() {
        lock.lock();
        try {
            return state;
        } finally {
            lock.unlock();
        }
    }

    /** Serves nobody new any more. */
    void close() {
        lock.lock();
        try {
            state = state == State.OPEN ? State.DRAINING : state;
        } finally {
            lock.unlock();
        }
    }

    /** The engine has said that it has stopped; its death, unless the server is being shut down. */
    void engineStopped(EngineStopped why) {
        lock.lock();
        try {
            if (state == State.OPEN) {
                death.complete(why);
                state = State.DEAD;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Is completed when the engine dies. */
    CompletableFuture<EngineStopped> death() {
        return death;
    }

    /** Waits until nobody is inside; whether that came about in time. */
    boolean awaitEmpty(Duration limit) throws InterruptedException {
        long leftNanos = TimeUnit.NANOSECONDS.convert(limit);
        lock.lock();
        try {
            while (inside > 0 && leftNanos > 0) {
                leftNanos = empty.awaitNanos(leftNanos);
            }
            return inside == 0;
        } finally {
            lock.unlock();
        }
    }
}
