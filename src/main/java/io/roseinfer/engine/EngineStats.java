package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

/**
 * A snapshot of an engine's counters. Immutable.
 *
 * @param kv the size of the KV pool, over all replicas
 * @param blocksInUse blocks held by requests, of the {@code kv.blocks()}
 * @param blocksCached unreferenced blocks in the prefix cache, of the {@code kv.blocks()}; they are free for requests
 * @param waiting requests accepted but not admitted
 * @param active requests that hold KV blocks
 * @param steps steps run since the engine was opened
 * @param totals sums of all {@link Fact#counts} over those steps, such as tokens computed and preemptions
 * @param requests requests and their tokens since the engine was opened
 */
public record EngineStats(
        KvGeometry kv,
        int blocksInUse,
        int blocksCached,
        int waiting,
        int active,
        long steps,
        Map<Fact, Long> totals,
        RequestCounts requests) {

    public EngineStats {
        Objects.requireNonNull(kv, "kv");
        totals = Map.copyOf(Objects.requireNonNull(totals, "totals"));
        Objects.requireNonNull(requests, "requests");
    }

    /** Returns the sum of a count over all steps, such as {@link Fact#PREEMPTIONS}; 0 for other facts. */
    public long total(Fact fact) {
        return totals.getOrDefault(Objects.requireNonNull(fact, "fact"), 0L);
    }

    /**
     * Returns the counters of one replica, without request counts.
     *
     * @param waiting requests bound to the replica that wait for their first admission
     */
    static EngineStats of(ReplicaLoad load, int waiting) {
        return new EngineStats(
                load.kv(),
                load.blocksInUse(),
                load.blocksCached(),
                load.queued() + waiting,
                load.running(),
                load.steps(),
                totals(load::total),
                RequestCounts.NONE);
    }

    /**
     * Returns the sums over all replicas, whose blocks have the same size.
     *
     * @param waiting requests that wait for any replica
     */
    static EngineStats sum(List<EngineStats> replicas, int waiting, RequestCounts requests) {
        KvGeometry one = replicas.getFirst().kv();
        return new EngineStats(
                new KvGeometry(one.blockSize(), sum(replicas, each -> each.kv().blocks()), one.bytesPerBlock()),
                sum(replicas, EngineStats::blocksInUse),
                sum(replicas, EngineStats::blocksCached),
                sum(replicas, EngineStats::waiting) + waiting,
                sum(replicas, EngineStats::active),
                replicas.stream().mapToLong(EngineStats::steps).sum(),
                totals(count ->
                        replicas.stream().mapToLong(each -> each.total(count)).sum()),
                requests);
    }

    private static int sum(List<EngineStats> replicas, ToIntFunction<EngineStats> value) {
        return replicas.stream().mapToInt(value).sum();
    }

    private static Map<Fact, Long> totals(ToLongFunction<Fact> total) {
        Map<Fact, Long> totals = new EnumMap<>(Fact.class);
        for (Fact count : Fact.counts()) {
            totals.put(count, total.applyAsLong(count));
        }
        return totals;
    }
}
