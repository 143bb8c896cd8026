package io.roseinfer.bench.join;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Parts of many samples, in milliseconds: means over all, over the fifth of them around the median, and over the fiftieth around and above
 * the 99th percentile. Unlike percentiles of parts, means add up.
 *
 * @param samples how many
 * @param all by part, in the order of the parts
 * @param median the same over the samples from the 40th to the 60th percentile of the whole
 * @param tail the same from the 98th on
 */
public record PartTable(int samples, Map<String, Double> all, Map<String, Double> median, Map<String, Double> tail) {
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
                mean(parts, sorted.subList(Math.min(size * 49 / 50, Math.max(0, size - 1)), size)));
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
