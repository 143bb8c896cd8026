package io.roseinfer.bench.report;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepTable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** The steps of each engine in order of their ends. Of steps of an engine with the same end, the last one remains. */
final class StepIndex {
    private final Map<Integer, EngineSteps> engines = new HashMap<>();
    private final EngineSteps none;
    /** The engine looked up last, and its steps. */
    private int latest;

    private EngineSteps ofLatest;

    StepIndex(StepTable steps) {
        none = new EngineSteps(steps);
        long[] ends = steps.endNanos();
        EngineSteps last = none;
        int lastEngine = -1;
        for (int i = 0; i < ends.length; i++) {
            int engine = (int) steps.get(i, Fact.ENGINE);
            if (engine != lastEngine) {
                last = engines.computeIfAbsent(engine, unused -> new EngineSteps(steps));
                lastEngine = engine;
            }
            last.add(i, ends[i]);
        }
        engines.values().forEach(EngineSteps::sort);
        ofLatest = engines.getOrDefault(latest, none);
    }

    /** Returns the steps of an engine. */
    EngineSteps of(int engine) {
        if (engine != latest) {
            latest = engine;
            ofLatest = engines.getOrDefault(engine, none);
        }
        return ofLatest;
    }

    /** The steps of one engine, by their position in the order of ends. */
    static final class EngineSteps {
        private static final int INITIAL_CAPACITY = 64;

        private final StepTable all;
        private int[] indices = new int[INITIAL_CAPACITY];
        private long[] ends = new long[INITIAL_CAPACITY];
        private int size;
        /** Whether each step ended after the previous one, so that they are in order. */
        private boolean isAscending = true;

        private EngineSteps(StepTable all) {
            this.all = all;
        }

        private void add(int index, long endNanos) {
            if (size == indices.length) {
                indices = Arrays.copyOf(indices, 2 * size);
                ends = Arrays.copyOf(ends, 2 * size);
            }
            indices[size] = index;
            ends[size] = endNanos;
            isAscending &= size == 0 || ends[size - 1] < endNanos;
            size++;
        }

        private void sort() {
            if (isAscending) {
                return;
            }
            int[] order = StableOrder.ascending(Arrays.copyOf(ends, size));
            int[] sortedIndices = new int[size];
            long[] sortedEnds = new long[size];
            int kept = 0;
            for (int i : order) {
                kept -= kept > 0 && sortedEnds[kept - 1] == ends[i] ? 1 : 0;
                sortedIndices[kept] = indices[i];
                sortedEnds[kept] = ends[i];
                kept++;
            }
            indices = sortedIndices;
            ends = sortedEnds;
            size = kept;
        }

        /** Returns the position of the last step that ended by a token's time, which produced it; -1 if there is none. */
        int before(long nanos) {
            int at = Arrays.binarySearch(ends, 0, size, nanos);
            return at >= 0 ? at : -at - 2;
        }

        /** Returns {@link #before} of a time, from its position for an earlier time. */
        int advance(int position, long nanos) {
            int at = position;
            while (at + 1 < size && ends[at + 1] <= nanos) {
                at++;
            }
            return at;
        }

        /** Returns whether the engine's very first step is there, so that none is missing before these. */
        boolean hasFirst() {
            return size > 0 && all.get(indices[0], Fact.STEP) == 0;
        }

        long endNanos(int position) {
            return ends[position];
        }

        long startNanos(int position) {
            return all.get(indices[position], Fact.START_NANOS);
        }

        long awaitedNanos(int position) {
            return all.awaitedNanos(indices[position]);
        }

        boolean hasPromptTokens(int position) {
            return all.get(indices[position], Fact.PREFILL_TOKENS) > 0;
        }

        /** Returns the duration of a step, from its planning or the end of the previous step, whichever is later, to its end. */
        long nanos(int position) {
            long start = startNanos(position);
            return ends[position] - (position == 0 ? start : Math.max(start, ends[position - 1]));
        }

        StepRecord step(int position) {
            return all.get(indices[position]);
        }
    }
}
