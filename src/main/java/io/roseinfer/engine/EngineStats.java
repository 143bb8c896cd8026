package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.engine.routing.ReplicaLoad;

/**
 * A snapshot of an engine's counters.
 *
 * @param kv the KV pool
 * @param blocksInUse blocks held by requests
 * @param blocksCached blocks nobody holds that the prefix cache keeps
 * @param waiting requests accepted and not admitted
 * @param active requests that hold KV blocks
 * @param steps steps run so far
 * @param preemptions requests that had to give their blocks back and start over
 * @param requests requests and their tokens since the engine was opened
 */
public record EngineStats(
        KvGeometry kv,
        int blocksInUse,
        int blocksCached,
        int waiting,
        int active,
        long steps,
        long preemptions,
        RequestCounts requests) {

    /** Prompt tokens that were found in the prefix cache instead of computed. */
    public long cachedTokens() {
        return requests.cachedTokens();
    }

    /**
     * The figures of one engine, without those of requests.
     *
     * @param waiting requests that wait for it to admit them first
     */
    static EngineStats of(ReplicaLoad load, int waiting) {
        return new EngineStats(
                load.kv(),
                load.blocksInUse(),
                load.blocksCached(),
                load.queued() + waiting,
                load.running(),
                load.steps(),
                load.preemptions(),
                RequestCounts.none(load.cachedTokens()));
    }

    /** The figures of two engines together, without those of requests; their blocks are of one size. */
    EngineStats plus(EngineStats other) {
        return new EngineStats(
                new KvGeometry(kv.blockSize(), kv.blocks() + other.kv.blocks(), kv.bytesPerBlock()),
                blocksInUse + other.blocksInUse,
                blocksCached + other.blocksCached,
                waiting + other.waiting,
                active + other.active,
                steps + other.steps,
                preemptions + other.preemptions,
                RequestCounts.none(cachedTokens() + other.cachedTokens()));
    }

    EngineStats plusWaiting(int more) {
        return new EngineStats(kv, blocksInUse, blocksCached, waiting + more, active, steps, preemptions, requests);
    }

    EngineStats withRequests(RequestCounts counts) {
        return new EngineStats(kv, blocksInUse, blocksCached, waiting, active, steps, preemptions, counts);
    }
}
