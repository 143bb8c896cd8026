package io.roseinfer.bench.replay;

import java.util.Arrays;

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
