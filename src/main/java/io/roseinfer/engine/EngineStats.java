package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;

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

    EngineStats withRequests(RequestCounts counts) {
        return new EngineStats(kv, blocksInUse, blocksCached, waiting, active, steps, preemptions, counts);
    }
}
