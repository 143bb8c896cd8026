package io.roseinfer.kv;

/** Looks into a pool for tests, with what the package's own classes can see. */
public final class KvProbe {
    private KvProbe() {}

    /** Whether nobody holds the block and nothing is known about its contents, so that no one may ever read it. */
    public static boolean isFree(KvBlockPool pool, int block) {
        return pool.references(block) == 0 && !pool.cache().knows(block);
    }

    /**
     * The cached blocks that a prompt would be given.
     *
     * @return how many were written to {@code blocks}
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
