package io.roseinfer.kv;

/**
 * The order of ranks that are set from outside: the lowest first, and the least recently used first on a tie. A block
 * that another idle block continues is not evicted before that one, as it would be unreachable without it. So a binary
 * heap has only blocks that no idle one continues; adding and removing take O(log n) and allocate no memory.
 */
final class RankedBlocks implements IdleBlocks {
    private final PrefixCache cache;
    private final long[] ranks;
    private final int[] hits;
    /** When each block was added, in additions. */
    private final long[] added;
    /** Number of idle blocks that continue each block. */
    private final int[] continuations;

    private final boolean[] idle;
    private final int[] heap;
    /** Each block's index in the heap, if it is there. */
    private final int[] places;

    private int heapSize;
    private int size;
    private long additions;

    RankedBlocks(PrefixCache cache, int blocks) {
        this.cache = cache;
        ranks = new long[blocks];
        hits = new int[blocks];
        added = new long[blocks];
        continuations = new int[blocks];
        idle = new boolean[blocks];
        heap = new int[blocks];
        places = new int[blocks];
    }

    /** Sets the rank of a referenced block, which it has from its next addition on. */
    void setRank(int block, long rank) {
        ranks[block] = rank;
    }

    long rank(int block) {
        return ranks[block];
    }

    int hits(int block) {
        return hits[block];
    }

    void addHits(int block, int count) {
        hits[block] += count;
    }

    /** Forgets the hits of a block that is evicted. */
    void forget(int block) {
        hits[block] = 0;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int first() {
        return heapSize == 0 ? KvBlockPool.NONE : heap[0];
    }

    @Override
    public void add(int block) {
        added[block] = additions++;
        idle[block] = true;
        size++;
        if (continuations[block] == 0) {
            push(block);
        }
        int previous = cache.predecessor(block);
        if (previous != KvBlockPool.NONE && continuations[previous]++ == 0 && idle[previous]) {
            pull(previous);
        }
    }

    @Override
    public void remove(int block) {
        idle[block] = false;
        size--;
        if (continuations[block] == 0) {
            pull(block);
        }
        int previous = cache.predecessor(block);
        if (previous != KvBlockPool.NONE && --continuations[previous] == 0 && idle[previous]) {
            push(previous);
        }
    }

    private void push(int block) {
        heapSize++;
        siftUp(heapSize - 1, block);
    }

    private void pull(int block) {
        int place = places[block];
        int last = heap[--heapSize];
        if (last != block) {
            siftDown(place, last);
            siftUp(places[last], last);
        }
    }

    private void siftUp(int from, int block) {
        int place = from;
        while (place > 0 && isBefore(block, heap[(place - 1) / 2])) {
            put(place, heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        put(place, block);
    }

    private void siftDown(int from, int block) {
        int place = from;
        int child = 2 * place + 1;
        while (child < heapSize) {
            if (child + 1 < heapSize && isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (!isBefore(heap[child], block)) {
                break;
            }
            put(place, heap[child]);
            place = child;
            child = 2 * place + 1;
        }
        put(place, block);
    }

    private void put(int place, int block) {
        heap[place] = block;
        places[block] = place;
    }

    private boolean isBefore(int block, int other) {
        return ranks[block] < ranks[other] || (ranks[block] == ranks[other] && added[block] < added[other]);
    }
}
