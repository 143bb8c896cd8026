package io.roseinfer.bench.replicas;

import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.Summary;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/** A routing policy that times the choices of another one. */
final class TimedRouting implements RoutingPolicy {
    private static final int MAX_TIMES = 1 << 16;

    private final RoutingPolicy policy;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLongArray nanos = new AtomicLongArray(MAX_TIMES);

    TimedRouting(RoutingPolicy policy) {
        this.policy = policy;
    }

    @Override
    public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
        long startNanos = System.nanoTime();
        int chosen = policy.choose(request, liveReplicas);
        long took = System.nanoTime() - startNanos;
        int index = count.getAndIncrement();
        if (index < MAX_TIMES) {
            nanos.set(index, took);
        }
        return chosen;
    }

    @Override
    public boolean usesPrefixes() {
        return policy.usesPrefixes();
    }

    /** Returns the duration of a choice in nanoseconds, over the first {@value #MAX_TIMES} choices; all 0 if there was none. */
    Summary nanos() {
        int size = Math.min(MAX_TIMES, count.get());
        double[] values = new double[Math.max(1, size)];
        Arrays.setAll(values, i -> i < size ? nanos.get(i) : 0);
        return Summary.of(values);
    }

    @Override
    public String toString() {
        return policy.toString();
    }
}
