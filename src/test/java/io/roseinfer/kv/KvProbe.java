package io.roseinfer.kv;

/** Test access to package-private state of a pool. */
public final class KvProbe {
    private KvProbe() {}

    /** Returns whether the block is free: unreferenced and not cached, so that no sequence may read it. */
    public static boolean isFree(KvBlockPool pool, int block) {
        return pool.references(block) == 0 && !pool.cache().contains(block);
    }

    /** Returns the number of blocks that a table has published to the prefix cache. */
    public static int published(BlockTable table) {
        return table.published();
    }

    /**
     * Finds the cached blocks that a prompt would reuse.
     *
     * @return the number of blocks written to {@code blocks}
     */
    public static int cachedPrefix(KvBlockPool pool, int[] tokens, int length, int[] blocks) {
        PrefixCache cache = pool.cache();
        int found = 0;
        long last = PrefixCache.ROOT;
        while ((found + 1) * pool.blockSize() <= length) {
            int block = cache.find(last, tokens, found * pool.blockSize());
            if (block == KvBlockPool.NONE) {
                break;
            }
            last = cache.serial(block);
            blocks[found++] = block;
        }
        return found;
    }
}
