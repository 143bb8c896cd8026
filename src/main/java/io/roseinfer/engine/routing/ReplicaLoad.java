package io.roseinfer.engine.routing;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.Scheduler;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The load of one replica, readable by any thread. Its own thread publishes the scheduler's counters just before each
 * delivery, so a reader of a token or an outcome finds it counted. Submissions and outcomes update the other counters.
 */
public final class ReplicaLoad implements StepObserver, ReplicaView {
    private static final Fact[] COUNTS = Fact.counts().toArray(Fact[]::new);

    private final int index;
    private final KvGeometry kv;
    private final Scheduler scheduler;
    private final @Nullable PublishedPrefixes prefixes;
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicLong outstandingTokens = new AtomicLong();
    private final AtomicLong uncomputedPromptTokens = new AtomicLong();
    private final AtomicLongArray totals = new AtomicLongArray(StepRecord.FACTS);
    private volatile int held;
    private volatile int cached;
    private volatile int queued;
    private volatile int active;
    private volatile long steps;

    /**
     * Creates the load of an idle replica.
     *
     * @param scheduler the scheduler whose counters are published
     * @param prefixes the hashes of the prefixes in its cache; null if they are not published
     */
    public ReplicaLoad(int index, KvGeometry kv, Scheduler scheduler, @Nullable PublishedPrefixes prefixes) {
        this.prefixes = prefixes;
        this.index = index;
        this.kv = kv;
        this.scheduler = scheduler;
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        if (event == StepEvent.DELIVERING) {
            publish();
        }
    }

    private void publish() {
        held = scheduler.pool().held();
        cached = scheduler.pool().cached();
        queued = scheduler.restarting();
        active = scheduler.active();
        steps = scheduler.steps();
        for (Fact count : COUNTS) {
            totals.lazySet(count.ordinal(), scheduler.total(count));
        }
    }

    /** Resets the scheduler's counters after all requests have ended. */
    public void clear() {
        held = 0;
        queued = 0;
        active = 0;
    }

    /**
     * Adds a request assigned to the replica.
     *
     * @param tokens its maximum number of tokens
     * @param promptTokens prompt tokens to compute
     */
    public void add(long tokens, int promptTokens) {
        requests.incrementAndGet();
        outstandingTokens.addAndGet(tokens);
        uncomputedPromptTokens.addAndGet(promptTokens);
    }

    /** Subtracts the prompt of an assigned request that has its first token. */
    public void promptComputed(int promptTokens) {
        uncomputedPromptTokens.addAndGet(-promptTokens);
    }

    /**
     * Removes an assigned request that has ended or was requeued.
     *
     * @param promptTokens 0 if it had a token
     */
    public void remove(long tokens, int promptTokens) {
        requests.decrementAndGet();
        outstandingTokens.addAndGet(-tokens);
        uncomputedPromptTokens.addAndGet(-promptTokens);
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public int requests() {
        return requests.get();
    }

    @Override
    public int running() {
        return active;
    }

    @Override
    public long outstandingTokens() {
        return outstandingTokens.get();
    }

    @Override
    public long uncomputedPromptTokens() {
        return uncomputedPromptTokens.get();
    }

    @Override
    public int cachedTokens(RoutedRequest request) {
        return prefixes == null ? 0 : prefixes.countKnown(request.prefixes()) * kv.blockSize();
    }

    @Override
    public long heldTokens() {
        return (long) held * kv.blockSize();
    }

    @Override
    public long poolTokens() {
        return (long) kv.blocks() * kv.blockSize();
    }

    /** Returns the hashes of the prefixes in its cache, if they are published. */
    Optional<PublishedPrefixes> prefixes() {
        return Optional.ofNullable(prefixes);
    }

    public KvGeometry kv() {
        return kv;
    }

    /** Returns the number of blocks held by requests. */
    public int blocksInUse() {
        return held;
    }

    /** Returns the number of unreferenced blocks in the prefix cache. */
    public int blocksCached() {
        return cached;
    }

    /** Returns the number of preempted requests that wait to be admitted again. */
    public int queued() {
        return queued;
    }

    /** Returns the number of steps run so far. */
    public long steps() {
        return steps;
    }

    /** Returns the sum of a count over all steps so far. */
    public long total(Fact count) {
        return totals.get(count.ordinal());
    }
}
