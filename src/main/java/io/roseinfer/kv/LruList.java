package io.roseinfer.kv;

/** LRU order: a doubly linked list in two arrays. */
final class LruList implements IdleBlocks {
    private static final int NONE = KvBlockPool.NONE;

    private final int[] older;
    private final int[] newer;
    private int oldest = NONE;
    private int newest = NONE;
    private int size;

    LruList(int blocks) {
        older = new int[blocks];
        newer = new int[blocks];
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int first() {
        return oldest;
    }

    @Override
    public void add(int block) {
        older[block] = newest;
        newer[block] = NONE;
        if (newest == NONE) {
            oldest = block;
        } else {
            newer[newest] = block;
        }
        newest = block;
        size++;
    }

    @Override
    public void remove(int block) {
        if (older[block] == NONE) {
            oldest = newer[block];
        } else {
            newer[older[block]] = newer[block];
        }
        if (newer[block] == NONE) {
            newest = older[block];
        } else {
            older[newer[block]] = older[block];
        }
        size--;
    }
}
