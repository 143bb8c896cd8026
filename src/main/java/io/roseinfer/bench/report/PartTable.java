package io.roseinfer.bench.report;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Parts of many samples, in milliseconds: means over all, over the fifth of them around the median, over the fiftieth around and above
 * the 99th percentile, and over each of up to fifty slices of equal size. Unlike percentiles of parts, means add up.
 *
 * @param samples how many
 * @param all by part, in the order of the parts
 * @param median the same over the samples from the 40th to the 60th percentile of the whole
 * @param tail the same from the 98th on
 * @param slices by part, the mean over each slice of the samples in the order of their wholes, the shortest first
 */
public record PartTable(
        int samples,
        Map<String, Double> all,
        Map<String, Double> median,
        Map<String, Double> tail,
        Map<String, List<Double>> slices) {
    /** As fine as the tail: the last slice is the samples from the 98th percentile on. */
    private static final int MAX_SLICES = 50;

    private static final double NANOS_PER_MILLI = 1e6;

    /** The table of some samples' parts in nanoseconds; their sums are the wholes. */
    public static PartTable of(List<String> parts, List<Map<String, Double>> samples) {
        List<Map<String, Double>> sorted = samples.stream()
                .sorted(Comparator.comparingDouble(PartTable::whole))
                .toList();
        int size = sorted.size();
        return new PartTable(
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

    /** What the parts of a column come to. */
    public static double sum(Map<String, Double> column) {
        return column.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
