package io.roseinfer.tokenizer;

import java.util.Arrays;

/** A binary min-heap of longs. */
final class LongHeap {
    private long[] heap = new long[32];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void add(long value) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        int hole = size++;
        while (hole > 0) {
            int parent = (hole - 1) >>> 1;
            if (heap[parent] <= value) {
                break;
            }
            heap[hole] = heap[parent];
            hole = parent;
        }
        heap[hole] = value;
    }

    /** Removes and returns the smallest value; the heap must not be empty. */
    long removeSmallest() {
        long smallest = heap[0];
        long last = heap[--size];
        int hole = 0;
        for (int child = 1; child < size; child = 2 * hole + 1) {
            if (child + 1 < size && heap[child + 1] < heap[child]) {
                child++;
            }
            if (heap[child] >= last) {
                break;
            }
            heap[hole] = heap[child];
            hole = child;
        }
        heap[hole] = last;
        return smallest;
    }
}
