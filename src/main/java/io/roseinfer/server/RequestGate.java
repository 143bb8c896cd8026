package io.roseinfer.server;

import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.server.api.ApiError;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Admits requests: all while the server is open, no new ones while it drains or after the engine has failed. */
final class RequestGate {
    /** The server's state; it only moves down this list. */
    enum State {
        OPEN,
        DRAINING,
        FAILED
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition empty = lock.newCondition();
    private final CompletableFuture<EngineStopped> failure = new CompletableFuture<>();
    private State state = State.OPEN;
    private int inside;
    private volatile boolean cut;

    /** Counts a call as inside, whether it will be served or not. */
    void enter() {
        lock.lock();
        try {
            inside++;
        } finally {
            lock.unlock();
        }
    }

    /** Counts a call as finished. */
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

    /** Throws unless requests are admitted. The caller must have entered, so that {@link #awaitEmpty} waits for it. */
    void requireOpen() {
        refusal().ifPresent(refused -> {
            throw refused;
        });
    }

    /** Returns the reason why no request is admitted; empty while the gate is open. */
    Optional<ApiError> refusal() {
        return switch (state()) {
            case OPEN -> Optional.empty();
            case DRAINING -> Optional.of(ApiError.unavailable("the server is shutting down"));
            case FAILED -> Optional.of(ApiError.unavailable(failure.join().jsonMessage()));
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

    /** Admits no more requests. */
    void close() {
        lock.lock();
        try {
            state = state == State.OPEN ? State.DRAINING : state;
        } finally {
            lock.unlock();
        }
    }

    /** Admits no more requests, and records that the connections of the others are being closed. */
    void cut() {
        close();
        cut = true;
    }

    /** Returns whether the server has begun to close connections of requests. */
    boolean hasCut() {
        return cut;
    }

    /** Records that the engine has stopped: it has failed unless the server is shutting down. */
    void engineStopped(EngineStopped why) {
        lock.lock();
        try {
            if (state == State.OPEN) {
                failure.complete(why);
                state = State.FAILED;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns a future that completes when the engine fails. */
    CompletableFuture<EngineStopped> failure() {
        return failure;
    }

    /** Returns the number of calls inside. */
    int inside() {
        lock.lock();
        try {
            return inside;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no call is inside, and returns how many still are after the limit. */
    int awaitEmpty(Duration limit) throws InterruptedException {
        long leftNanos = TimeUnit.NANOSECONDS.convert(limit);
        lock.lock();
        try {
            while (inside > 0 && leftNanos > 0) {
                leftNanos = empty.awaitNanos(leftNanos);
            }
            return inside;
        } finally {
            lock.unlock();
        }
    }
}
