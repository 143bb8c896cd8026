package io.roseinfer.bench.compare;

import io.roseinfer.bench.report.Environment;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A value of a study's environments, such as the source of simulated times, and the runs that have it.
 *
 * @param runs the arm or the points; empty if all runs have the value, or if it is unknown which ones do
 * @param value the value in words
 */
public record OfRuns(String runs, String value) {
    /** Returns the values of a comparison's arms. */
    public static List<OfRuns> arms(Study study, Function<Environment, Optional<String>> value) {
        if (study.environments().isEmpty()) {
            return List.of();
        }
        Optional<String> a = value.apply(study.environments().getFirst());
        Optional<String> b = value.apply(study.environments().getLast());
        return a.equals(b)
                ? a.stream().map(both -> new OfRuns("", both)).toList()
                : Stream.concat(
                                a.stream().map(one -> new OfRuns("A", one)),
                                b.stream().map(one -> new OfRuns("B", one)))
                        .toList();
    }

    /**
     * Returns the values of a sweep's points.
     *
     * @param label formatter of the flags that identify points
     */
    public static List<OfRuns> points(
            Study study,
            List<SweepPoint> points,
            Function<Map<String, String>, String> label,
            Function<Environment, Optional<String>> value) {
        Map<Optional<String>, Set<Map<String, String>>> flags = new LinkedHashMap<>();
        for (SweepPoint point : points) {
            int index = point.environment().orElse(-1);
            if (index < 0 || index >= study.environments().size()) {
                return study.environments().stream()
                        .flatMap(each -> value.apply(each).stream())
                        .distinct()
                        .map(known -> new OfRuns("", known))
                        .toList();
            }
            flags.computeIfAbsent(value.apply(study.environments().get(index)), any -> new LinkedHashSet<>())
                    .add(point.flags());
        }
        return flags.entrySet().stream()
                .filter(group -> group.getKey().isPresent())
                .map(group -> new OfRuns(
                        flags.size() == 1
                                ? ""
                                : distinctive(group.getValue(), flags.values()).stream()
                                        .map(label)
                                        .collect(Collectors.joining("; ")),
                        group.getKey().orElseThrow()))
                .toList();
    }

    /** Returns the values of the first flag that separates a group of points from all others; all flags if none does. */
    private static Set<Map<String, String>> distinctive(
            Set<Map<String, String>> own, Collection<Set<Map<String, String>>> groups) {
        return own.stream()
                .flatMap(flags -> flags.keySet().stream())
                .filter(name -> groups.stream()
                        .filter(other -> !other.equals(own))
                        .allMatch(other -> Collections.disjoint(values(other, name), values(own, name))))
                .findFirst()
                .map(name -> values(own, name))
                .orElse(own);
    }

    private static Set<Map<String, String>> values(Set<Map<String, String>> points, String flag) {
        return points.stream()
                .map(flags -> Map.of(flag, flags.getOrDefault(flag, "")))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Returns the lines of a text report with the sources of simulated times. */
    public static String simulatedLines(List<OfRuns> sources) {
        return sources.stream()
                .map(source -> source.named("Simulated time") + ": " + source.value() + "\n")
                .collect(Collectors.joining());
    }

    /** Returns the name of the value, with the runs that have it. */
    public String named(String name) {
        return runs.isEmpty() ? name : name + " of " + runs;
    }
}
