package io.roseinfer.engine.routing;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.Scheduler;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * What one engine has to do, read by anyone. Its thread writes the scheduler's figures whenever it is about to deliver, so who
 * learns of a token or an ending finds it counted; submissions and endings add to and subtract from the rest.
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
     * The load of an engine that has nothing to do.
     *
     * @param scheduler whose figures are published
     * @param prefixes what its prefix cache has; null if nobody asks
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

    /** The engine has ended everything, and nothing is held any more. */
    public void nothingRuns() {
        held = 0;
        queued = 0;
        active = 0;
    }

    /**
     * A request is given to the engine.
     *
     * @param tokens it can take at most
     * @param promptTokens of its prompt that are to be computed
     */
    public void add(long tokens, int promptTokens) {
        requests.incrementAndGet();
        outstandingTokens.addAndGet(tokens);
        uncomputedPromptTokens.addAndGet(promptTokens);
    }

    /** A request that was given to the engine has its first token. */
    public void compute(int promptTokens) {
        uncomputedPromptTokens.addAndGet(-promptTokens);
    }

    /**
     * A request that was given to the engine has ended, or is taken from it.
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

    public KvGeometry kv() {
        return kv;
    }

    /** Blocks held by requests. */
    public int blocksInUse() {
        return held;
    }

    /** Blocks nobody holds that the prefix cache keeps. */
    public int blocksCached() {
        return cached;
    }

    /** Requests that gave their blocks back and wait to be admitted again. */
    public int queued() {
        return queued;
    }

    /** Steps run so far. */
    public long steps() {
        return steps;
    }

    /** Returns what all steps did so far, of a fact that counts. */
    public long total(Fact count) {
        return totals.get(count.ordinal());
    }
}
