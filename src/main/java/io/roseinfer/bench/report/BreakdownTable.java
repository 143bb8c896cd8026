package io.roseinfer.bench.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Mean parts of many samples in milliseconds: over all samples, over the fifth around the median, over the slowest fiftieth, and over each
 * of up to fifty slices of equal size. Unlike percentiles of parts, means add up.
 *
 * @param samples number of samples
 * @param all means over all samples by part, in the order of the parts
 * @param median means over the samples from the 40th to the 60th percentile of the total
 * @param tail means over the samples from the 98th percentile on
 * @param slices by part, the means over slices of the samples sorted by their total, the shortest first
 */
public record BreakdownTable(
        int samples,
        Map<String, Double> all,
        Map<String, Double> median,
        Map<String, Double> tail,
        Map<String, List<Double>> slices) {
    /** Maximum slices; the last one then equals the tail. */
    private static final int MAX_SLICES = 50;

    private static final double NANOS_PER_MILLI = 1e6;

    /** The current names of parts in files of schema 1. */
    private static final Map<String, String> RENAMED =
            Map.of("hand_over", "deliver", "residual", "unattributed", "between", "idle");

    public BreakdownTable {
        all = current(all);
        median = current(median);
        tail = current(tail);
        slices = current(slices);
    }

    /** Returns parts by their current names, in the same order. */
    static <V> Map<String, V> current(Map<String, V> parts) {
        Map<String, V> current = new LinkedHashMap<>();
        parts.forEach((part, value) -> current.put(RENAMED.getOrDefault(part, part), value));
        return Collections.unmodifiableMap(current);
    }

    /**
     * Creates a table.
     *
     * @param parts names of the parts
     * @param nanos for each part, its nanoseconds in each sample
     */
    static BreakdownTable of(List<String> parts, long[]... nanos) {
        int[] sorted = StableOrder.ascending(totals(nanos));
        int size = sorted.length;
        int low = size * 2 / 5;
        int high = Math.max(size * 3 / 5, Math.min(size, low + 1));
        int tail = Math.min(size * 49 / 50, Math.max(0, size - 1));
        int count = Math.min(MAX_SLICES, size);
        Map<String, Double> all = new LinkedHashMap<>();
        Map<String, Double> median = new LinkedHashMap<>();
        Map<String, Double> slowest = new LinkedHashMap<>();
        Map<String, List<Double>> slices = new LinkedHashMap<>();
        for (int i = 0; i < nanos.length; i++) {
            String part = parts.get(i);
            long[] ofPart = nanos[i];
            all.put(part, meanMillis(ofPart, sorted, 0, size));
            median.put(part, meanMillis(ofPart, sorted, low, high));
            slowest.put(part, meanMillis(ofPart, sorted, tail, size));
            slices.put(
                    part,
                    IntStream.range(0, count)
                            .mapToObj(slice -> meanMillis(
                                    ofPart, sorted, border(slice, count, size), border(slice + 1, count, size)))
                            .toList());
        }
        return new BreakdownTable(size, all, median, slowest, slices);
    }

    /** Returns the table without the parts that are 0 in every slice. */
    BreakdownTable withoutZeros() {
        Map<String, List<Double>> kept = new LinkedHashMap<>(slices);
        kept.values().removeIf(means -> means.stream().allMatch(mean -> mean == 0));
        return new BreakdownTable(
                samples, only(all, kept.keySet()), only(median, kept.keySet()), only(tail, kept.keySet()), kept);
    }

    private static Map<String, Double> only(Map<String, Double> column, Set<String> parts) {
        Map<String, Double> kept = new LinkedHashMap<>(column);
        kept.keySet().retainAll(parts);
        return kept;
    }

    private static long[] totals(long[]... nanos) {
        long[] totals = new long[nanos[0].length];
        for (long[] part : nanos) {
            for (int i = 0; i < totals.length; i++) {
                totals[i] += part[i];
            }
        }
        return totals;
    }

    private static int border(int slice, int slices, int samples) {
        return (int) ((long) slice * samples / slices);
    }

    /** Returns the mean over some of the sorted samples; 0 over none. */
    private static double meanMillis(long[] nanos, int[] sorted, int from, int to) {
        long sum = 0;
        boolean isAll = to - from == nanos.length;
        for (int i = from; i < to; i++) {
            sum += nanos[isAll ? i : sorted[i]];
        }
        return sum / (double) Math.max(1, to - from) / NANOS_PER_MILLI;
    }

    /** Returns the sum of the parts of a column. */
    public static double sum(Map<String, Double> column) {
        return column.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
