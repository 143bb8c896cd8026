package io.roseinfer.bench.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A recorded pace: intervals of constant pace, with normal pace in between. */
final class RecordedPace implements Pace {
    private final long[] begin;
    private final long[] end;
    private final double[] cost;

    RecordedPace(long[] begin, long[] end, double[] cost) {
        this.begin = begin.clone();
        this.end = end.clone();
        this.cost = cost.clone();
    }

    /** Collects the pieces of work of recorded runs, one run after another. */
    static final class Builder {
        private final List<Long> begin = new ArrayList<>();
        private final List<Long> end = new ArrayList<>();
        private final List<Double> cost = new ArrayList<>();
        /** Start of the current run. */
        private long offset;

        /** Adds a piece of work, not before the end of the last one. */
        void add(long beginNanos, long endNanos, double costNanos) {
            begin.add(offset + beginNanos);
            end.add(offset + endNanos);
            cost.add(costNanos);
        }

        /** Lets the next run start where this one ended. */
        void endRun() {
            offset = end.getLast();
        }

        RecordedPace build() {
            return new RecordedPace(
                    begin.stream().mapToLong(Long::longValue).toArray(),
                    end.stream().mapToLong(Long::longValue).toArray(),
                    cost.stream().mapToDouble(Double::doubleValue).toArray());
        }
    }

    @Override
    public long endNanos(long startNanos, double costNanos, long step) {
        long whole = end[end.length - 1] + 1;
        long within = Math.floorMod(startNanos, whole);
        int found = Arrays.binarySearch(begin, within);
        int piece = Math.max(0, found >= 0 ? found : -found - 2);
        double left = costNanos;
        double at = (double) within;
        while (piece < begin.length) {
            // First the time up to this interval, then the rest of the interval.
            double inside = Math.max(0, (double) end[piece] - Math.max(at, (double) begin[piece]));
            double before = Math.max(0, (double) begin[piece] - at);
            double pace = cost[piece] / (double) Math.max(1, end[piece] - begin[piece]);
            if (left <= before) {
                return startNanos + ended(at + left, within);
            }
            left -= before;
            at = Math.max(at, (double) begin[piece]);
            if (left <= inside * pace) {
                return startNanos + ended(at + left / pace, within);
            }
            left -= inside * pace;
            at = Math.max(at, (double) end[piece]);
            piece++;
        }
        return startNanos + ended(at + left, within);
    }

    private static long ended(double at, long within) {
        return Math.max(1, Math.round(at - within));
    }
}
