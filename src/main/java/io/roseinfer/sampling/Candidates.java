package io.roseinfer.sampling;

/**
 * Tokens with weights, taken heaviest first; ties go to the lower id. A binary heap moves the taken tokens to the end
 * of its arrays, as heapsort does. It takes O(n) to build and O(log n) per token, so top-k and top-p never sort the
 * whole vocabulary.
 */
final class Candidates {
    private final int[] tokens;
    private final double[] weights;
    private int size;
    private int taken;

    Candidates(int capacity) {
        tokens = new int[capacity];
        weights = new double[capacity];
    }

    /** Returns the size of the arrays for {@code capacity} tokens. */
    static long bytes(int capacity) {
        return (Integer.BYTES + Double.BYTES) * (long) capacity;
    }

    void clear() {
        size = 0;
        taken = 0;
    }

    int size() {
        return size;
    }

    void add(int token, double weight) {
        tokens[size] = token;
        weights[size] = weight;
        size++;
    }

    /**
     * Draws a token: from the {@code topK} heaviest it keeps the shortest prefix whose share of their sum reaches
     * {@code topP}, including the token that crosses it. Then it takes the kept token at {@code draw}.
     *
     * @param total sum of all weights
     * @param draw uniform in [0, 1)
     */
    int choose(int topK, double topP, double total, double draw) {
        heapify();
        double sum = topK < size ? sumOfHeaviest(topK) : total;
        double wanted = topP * sum;
        double kept = 0;
        int count = 0;
        while (count < topK && (count == 0 || kept < wanted)) {
            kept += heaviestWeight(count);
            count++;
        }
        return prefixed(count, kept * draw);
    }

    /** Writes the {@code count} heaviest tokens to {@code target}, heaviest first. */
    void heaviest(int count, int[] target) {
        heapify();
        for (int rank = 0; rank < count; rank++) {
            heaviestWeight(rank);
            target[rank] = tokens[size - 1 - rank];
        }
    }

    /**
     * Returns the token at which the running sum of weights, in insertion order, passes {@code target}. Without filters
     * any order is valid, and this one needs no sorting.
     */
    int byId(double target) {
        double sum = 0;
        for (int i = 0; i < size - 1; i++) {
            sum += weights[i];
            if (target < sum) {
                return tokens[i];
            }
        }
        return tokens[size - 1];
    }

    private int prefixed(int count, double target) {
        double sum = 0;
        for (int rank = 0; rank < count - 1; rank++) {
            sum += heaviestWeight(rank);
            if (target < sum) {
                return tokens[size - 1 - rank];
            }
        }
        return tokens[size - count];
    }

    private double sumOfHeaviest(int count) {
        double sum = 0;
        for (int rank = 0; rank < count; rank++) {
            sum += heaviestWeight(rank);
        }
        return sum;
    }

    /** Returns the weight of the token of this rank, taking it from the heap if necessary. */
    private double heaviestWeight(int rank) {
        if (rank == taken) {
            swap(0, size - 1 - taken);
            taken++;
            siftDown(0);
        }
        return weights[size - 1 - rank];
    }

    private void heapify() {
        for (int i = size / 2 - 1; i >= 0; i--) {
            siftDown(i);
        }
    }

    private void siftDown(int start) {
        int end = size - taken;
        int parent = start;
        while (true) {
            int child = 2 * parent + 1;
            if (child >= end) {
                return;
            }
            if (child + 1 < end && before(child + 1, child)) {
                child++;
            }
            if (!before(child, parent)) {
                return;
            }
            swap(child, parent);
            parent = child;
        }
    }

    private boolean before(int a, int b) {
        return weights[a] > weights[b] || (weights[a] == weights[b] && tokens[a] < tokens[b]);
    }

    private void swap(int a, int b) {
        int token = tokens[a];
        tokens[a] = tokens[b];
        tokens[b] = token;
        double weight = weights[a];
        weights[a] = weights[b];
        weights[b] = weight;
    }
}
