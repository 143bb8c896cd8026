package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
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
final class ReplicaLoad implements StepObserver, ReplicaView {
    private static final int[] COUNTS =
            Fact.counts().stream().mapToInt(Fact::ordinal).toArray();

    private static final Fact[] FACTS = Fact.values();
    private static final int HELD = StepRecord.FACTS;
    private static final int CACHED = StepRecord.FACTS + 1;
    private static final int QUEUED = StepRecord.FACTS + 2;
    private static final int ACTIVE = StepRecord.FACTS + 3;
    private static final int STEPS = StepRecord.FACTS + 4;
    private static final int OTHERS = 5;

    private final int index;
    private final KvGeometry kv;
    private final Scheduler scheduler;
    private final @Nullable PublishedPrefixes prefixes;
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicLong outstandingTokens = new AtomicLong();
    private final AtomicLong predictedTokens = new AtomicLong();
    private final AtomicLong uncomputedPromptTokens = new AtomicLong();
    /** The totals of facts, then the other published counters. Written without fences by the replica's thread. */
    private final AtomicLongArray published = new AtomicLongArray(StepRecord.FACTS + OTHERS);

    /** The scheduler's {@link Scheduler#changesOfTotals} when its totals were published. */
    private long publishedChanges;

    /**
     * Creates the load of an idle replica.
     *
     * @param scheduler the scheduler whose counters are published
     * @param prefixes the hashes of the prefixes in its cache; null if they are not published
     */
    ReplicaLoad(int index, KvGeometry kv, Scheduler scheduler, @Nullable PublishedPrefixes prefixes) {
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
        published.lazySet(HELD, scheduler.pool().held());
        published.lazySet(CACHED, scheduler.pool().cached());
        published.lazySet(QUEUED, scheduler.restarting());
        published.lazySet(ACTIVE, scheduler.active());
        published.lazySet(STEPS, scheduler.steps());
        if (publishedChanges != scheduler.changesOfTotals()) {
            publishedChanges = scheduler.changesOfTotals();
            for (int count : COUNTS) {
                published.lazySet(count, scheduler.total(FACTS[count]));
            }
        }
    }

    /** Resets the scheduler's counters after all requests have ended. */
    void clear() {
        published.set(HELD, 0);
        published.set(QUEUED, 0);
        published.set(ACTIVE, 0);
    }

    /**
     * Adds a request assigned to the replica.
     *
     * @param tokens its maximum number of tokens
     * @param predicted its predicted number of tokens
     * @param promptTokens prompt tokens to compute
     */
    void add(long tokens, long predicted, int promptTokens) {
        requests.incrementAndGet();
        outstandingTokens.addAndGet(tokens);
        predictedTokens.addAndGet(predicted);
        uncomputedPromptTokens.addAndGet(promptTokens);
    }

    /** Subtracts the prompt of an assigned request that has its first token. */
    void promptComputed(int promptTokens) {
        uncomputedPromptTokens.addAndGet(-promptTokens);
    }

    /**
     * Removes an assigned request that has ended or was requeued.
     *
     * @param promptTokens 0 if it had a token
     */
    void remove(long tokens, long predicted, int promptTokens) {
        requests.decrementAndGet();
        outstandingTokens.addAndGet(-tokens);
        predictedTokens.addAndGet(-predicted);
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
        return (int) published.get(ACTIVE);
    }

    @Override
    public long outstandingTokens() {
        return outstandingTokens.get();
    }

    @Override
    public long predictedTokens() {
        return predictedTokens.get();
    }

    @Override
    public long uncomputedPromptTokens() {
        return uncomputedPromptTokens.get();
    }

    @Override
    public int cachedTokens(RoutedRequest request) {
        long[] hashes = RoutedView.hashes(request);
        return prefixes == null ? 0 : prefixes.countKnown(hashes) * kv.blockSize();
    }

    @Override
    public long heldTokens() {
        return published.get(HELD) * kv.blockSize();
    }

    @Override
    public long poolTokens() {
        return (long) kv.blocks() * kv.blockSize();
    }

    @Override
    public int sharedRequests() {
        return scheduler.waitingQueue().sharedCount();
    }

    @Override
    public long sharedPredictedTokens() {
        return scheduler.waitingQueue().sharedPredictedTokens();
    }

    @Override
    public long sharedPromptTokens() {
        return scheduler.waitingQueue().sharedPromptTokens();
    }

    /** Returns the hashes of the prefixes in its cache, if they are published. */
    Optional<PublishedPrefixes> prefixes() {
        return Optional.ofNullable(prefixes);
    }

    KvGeometry kv() {
        return kv;
    }

    /** Returns the number of blocks held by requests. */
    int blocksInUse() {
        return (int) published.get(HELD);
    }

    /** Returns the number of unreferenced blocks in the prefix cache. */
    int blocksCached() {
        return (int) published.get(CACHED);
    }

    /** Returns the number of preempted requests that wait to be admitted again. */
    int queued() {
        return (int) published.get(QUEUED);
    }

    /** Returns the number of steps run so far. */
    long steps() {
        return published.get(STEPS);
    }

    /** Returns the sum of a count over all steps so far. */
    long total(Fact count) {
        return published.get(count.ordinal());
    }
}
