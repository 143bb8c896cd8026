package io.roseinfer.bench.report;

import io.roseinfer.metrics.ValueCounts;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

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

    /** The samples of a breakdown. */
    @FunctionalInterface
    interface Samples {
        /** Passes the nanoseconds of each part of every sample, always in the same order; the array is reused. */
        void forEach(Consumer<long[]> action);
    }

    /**
     * Creates a table. Lists the samples twice rather than keep them.
     *
     * @param parts names of the parts
     */
    static BreakdownTable of(List<String> parts, Samples samples) {
        ValueCounts totals = new ValueCounts();
        samples.forEach(nanos -> totals.add(total(nanos)));
        int size = totals.size();
        int low = size * 2 / 5;
        int high = Math.max(size * 3 / 5, Math.min(size, low + 1));
        int tail = Math.min(size * 49 / 50, Math.max(0, size - 1));
        int count = Math.min(MAX_SLICES, size);
        Sums all = new Sums(parts, 0, size);
        Sums median = new Sums(parts, low, high);
        Sums slowest = new Sums(parts, tail, size);
        Sums[] slices = new Sums[count];
        for (int slice = 0; slice < count; slice++) {
            slices[slice] = new Sums(parts, border(slice, count, size), border(slice + 1, count, size));
        }
        ValueCounts.Ranks ranks = totals.ranks();
        samples.forEach(nanos -> {
            int rank = ranks.next(total(nanos));
            all.add(rank, nanos);
            median.add(rank, nanos);
            slowest.add(rank, nanos);
            slices[(int) (((rank + 1L) * count - 1) / size)].add(rank, nanos);
        });
        Map<String, List<Double>> bySlice = new LinkedHashMap<>();
        for (int i = 0; i < parts.size(); i++) {
            int part = i;
            bySlice.put(
                    parts.get(i),
                    Arrays.stream(slices).map(slice -> slice.millis(part)).toList());
        }
        return new BreakdownTable(size, all.millis(), median.millis(), slowest.millis(), bySlice);
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

    private static long total(long... nanos) {
        long total = 0;
        for (long part : nanos) {
            total += part;
        }
        return total;
    }

    private static int border(int slice, int slices, int samples) {
        return (int) ((long) slice * samples / slices);
    }

    /** The sums of the parts over the samples whose ranks are in a range. */
    private static final class Sums {
        private final List<String> parts;
        private final int from;
        private final int to;
        private final long[] nanos;

        private Sums(List<String> parts, int from, int to) {
            this.parts = parts;
            this.from = from;
            this.to = to;
            this.nanos = new long[parts.size()];
        }

        private void add(int rank, long... sample) {
            if (rank >= from && rank < to) {
                for (int part = 0; part < nanos.length; part++) {
                    nanos[part] += sample[part];
                }
            }
        }

        /** Returns the mean of a part; 0 over no samples. */
        private double millis(int part) {
            return nanos[part] / (double) Math.max(1, to - from) / NANOS_PER_MILLI;
        }

        private Map<String, Double> millis() {
            Map<String, Double> millis = new LinkedHashMap<>();
            for (int part = 0; part < nanos.length; part++) {
                millis.put(parts.get(part), millis(part));
            }
            return millis;
        }
    }

    /** Formats milliseconds to the microsecond; a part that is negative by rounding alone is 0.000. */
    public static String millis(double value) {
        String text = String.format(Locale.ROOT, "%.3f", value);
        return text.equals("-0.000") ? "0.000" : text;
    }

    /** Returns the sum of the parts of a column. */
    public static double sum(Map<String, Double> column) {
        return column.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
