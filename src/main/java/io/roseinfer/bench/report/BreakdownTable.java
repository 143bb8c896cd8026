package io.roseinfer.bench.report;

import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    /** Creates a table from the parts of samples in nanoseconds. */
    public static BreakdownTable of(List<String> parts, List<Map<String, Double>> samples) {
        List<Map<String, Double>> sorted = samples.stream()
                .sorted(Comparator.comparingDouble(BreakdownTable::whole))
                .toList();
        int size = sorted.size();
        return new BreakdownTable(
                size,
                mean(parts, sorted),
                mean(parts, sorted.subList(size * 2 / 5, Math.max(size * 3 / 5, Math.min(size, size * 2 / 5 + 1)))),
                mean(parts, sorted.subList(Math.min(size * 49 / 50, Math.max(0, size - 1)), size)),
                slices(parts, sorted));
    }

    private static Map<String, List<Double>> slices(List<String> parts, List<Map<String, Double>> sorted) {
        int count = Math.min(MAX_SLICES, sorted.size());
        List<Map<String, Double>> means = IntStream.range(0, count)
                .mapToObj(i -> mean(parts, sorted.subList(border(i, count, sorted), border(i + 1, count, sorted))))
                .toList();
        Map<String, List<Double>> slices = new LinkedHashMap<>();
        for (String part : parts) {
            slices.put(
                    part,
                    means.stream().map(mean -> mean.getOrDefault(part, 0.0)).toList());
        }
        return slices;
    }

    private static int border(int slice, int slices, List<?> samples) {
        return (int) ((long) slice * samples.size() / slices);
    }

    private static double whole(Map<String, Double> sample) {
        return sample.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    private static Map<String, Double> mean(List<String> parts, List<Map<String, Double>> samples) {
        Map<String, Double> means = new LinkedHashMap<>();
        for (String part : parts) {
            means.put(
                    part,
                    samples.stream()
                                    .mapToDouble(sample -> sample.getOrDefault(part, 0.0))
                                    .average()
                                    .orElse(0)
                            / NANOS_PER_MILLI);
        }
        return means;
    }

    /** Returns the sum of the parts of a column. */
    public static double sum(Map<String, Double> column) {
        return column.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
