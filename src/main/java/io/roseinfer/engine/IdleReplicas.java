package io.roseinfer.engine;

import io.roseinfer.scheduler.WaitingQueue;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Wakes idle replicas for shared requests, on threads and in virtual time. A busy replica wakes a parked one and leaves
 * these requests to it. Any thread may call the methods.
 */
final class IdleReplicas {
    /** A replica that is parked while it has no work. */
    interface Sleeper {
        /** Returns whether it is parked, or was woken and has not started its iteration. */
        boolean isParked();

        /** Wakes it if it is parked; returns whether it did. */
        boolean wake();
    }

    private final List<? extends Sleeper> replicas;
    private final RequestRouter router;
    private final WaitingQueue waitingQueue;
    private final AtomicInteger rotation = new AtomicInteger();

    IdleReplicas(List<? extends Sleeper> replicas, RequestRouter router, WaitingQueue waitingQueue) {
        this.replicas = replicas;
        this.router = router;
        this.waitingQueue = waitingQueue;
    }

    /** Wakes a parked replica if shared requests wait. */
    void wakeOne() {
        if (waitingQueue.sharedCount() > 0) {
            wakeAny();
        }
    }

    /** Wakes a parked replica; the order rotates. */
    void wakeAny() {
        int first = rotation.getAndIncrement();
        for (int i = 0; i < replicas.size(); i++) {
            if (replicas.get(Integer.remainderUnsigned(first + i, replicas.size()))
                    .wake()) {
                return;
            }
        }
    }

    /** Returns how many shared requests a replica may admit now: its share, or 0 if it is busy and another is parked. */
    int share(ReplicaLoad own, boolean isBusy) {
        return isBusy && isAnyParked() ? 0 : router.share(own);
    }

    private boolean isAnyParked() {
        for (int i = 0; i < replicas.size(); i++) {
            if (replicas.get(i).isParked()) {
                return true;
            }
        }
        return false;
    }
}
