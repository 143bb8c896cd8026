package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.kv.PastPrefixes;
import io.roseinfer.scheduler.Sequence;
import java.util.ArrayDeque;
import java.util.Optional;

/**
 * The state of a replica as of a {@link ViewAge} ago. Keeps the changes within the age. Not thread-safe: for virtual time
 * only.
 */
final class AgedView implements ReplicaView {
    /**
     * Values at a time.
     *
     * @param sentTokens maximum tokens of all requests ever routed to the replica
     * @param sentPredictedTokens predicted tokens of them
     * @param sentPromptTokens the prompt tokens of them to compute
     */
    private record Values(
            int requests,
            int running,
            long outstandingTokens,
            long predictedTokens,
            long uncomputedPromptTokens,
            long heldTokens,
            int sent,
            long sentTokens,
            long sentPredictedTokens,
            long sentPromptTokens) {
        static final Values IDLE = new Values(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    private record Snapshot(long nanos, Values values) {}

    private final ReplicaLoad now;
    private final Clock clock;
    private final long ageNanos;
    private final boolean countsSent;
    private final Optional<PastPrefixes> prefixes;
    /** Changes since the time that the view shows, oldest first. */
    private final ArrayDeque<Snapshot> since = new ArrayDeque<>();

    private Values past = Values.IDLE;
    private Values latest = Values.IDLE;
    private int sent;
    private long sentTokens;
    private long sentPredictedTokens;
    private long sentPromptTokens;

    /**
     * Creates a view of an idle replica.
     *
     * @param clock the time of the engine
     * @param age how long ago the view shows the replica
     */
    AgedView(ReplicaLoad now, Clock clock, ViewAge age) {
        this.now = now;
        this.clock = clock;
        this.ageNanos = age.nanos();
        this.countsSent = age.countsSent();
        this.prefixes = now.prefixes().map(known -> new PastPrefixes(known, clock, ageNanos));
    }

    /** Notes the replica's state; called after each event of the engine. */
    void record() {
        Values values = new Values(
                now.requests(),
                now.running(),
                now.outstandingTokens(),
                now.predictedTokens(),
                now.uncomputedPromptTokens(),
                now.heldTokens(),
                sent,
                sentTokens,
                sentPredictedTokens,
                sentPromptTokens);
        if (!values.equals(latest)) {
            latest = values;
            since.addLast(new Snapshot(clock.nanos(), values));
            Values unused = past();
        }
    }

    private Values past() {
        long thenNanos = clock.nanos() - ageNanos;
        for (Snapshot next = since.peekFirst(); next != null && next.nanos <= thenNanos; next = since.peekFirst()) {
            past = next.values;
            since.removeFirst();
        }
        return past;
    }

    /**
     * Counts a request that is being routed to the replica.
     *
     * @param promptTokens prompt tokens to compute there
     */
    void send(Sequence sequence, int promptTokens) {
        sent++;
        sentTokens += sequence.maxLength();
        sentPredictedTokens += sequence.predictedLength();
        sentPromptTokens += promptTokens;
    }

    @Override
    public int index() {
        return now.index();
    }

    @Override
    public int requests() {
        return past().requests + (countsSent ? sent - past.sent : 0);
    }

    @Override
    public int running() {
        return past().running;
    }

    @Override
    public long outstandingTokens() {
        return past().outstandingTokens + (countsSent ? sentTokens - past.sentTokens : 0);
    }

    @Override
    public long predictedTokens() {
        return past().predictedTokens + (countsSent ? sentPredictedTokens - past.sentPredictedTokens : 0);
    }

    @Override
    public long uncomputedPromptTokens() {
        return past().uncomputedPromptTokens + (countsSent ? sentPromptTokens - past.sentPromptTokens : 0);
    }

    @Override
    public int cachedTokens(RoutedRequest request) {
        long[] hashes = RoutedView.hashes(request);
        return prefixes.map(known -> known.countKnown(hashes) * now.kv().blockSize())
                .orElse(0);
    }

    @Override
    public long heldTokens() {
        return past().heldTokens;
    }

    @Override
    public long poolTokens() {
        return now.poolTokens();
    }

    @Override
    public int sharedRequests() {
        return now.sharedRequests();
    }

    @Override
    public long sharedPredictedTokens() {
        return now.sharedPredictedTokens();
    }

    @Override
    public long sharedPromptTokens() {
        return now.sharedPromptTokens();
    }

    /** Returns the number of changes kept. */
    int changes() {
        return since.size();
    }
}
