package io.roseinfer.bench.compare;

import io.roseinfer.bench.report.Environment;
import java.util.List;
import java.util.Map;

/**
 * Description of the runs of a sweep or comparison.
 *
 * @param command the arguments of the command, including its name
 * @param shared the arguments of bench serve shared by all runs
 * @param goodput bounds of goodput in milliseconds, by metric; empty without bounds
 * @param environments environments of the runs, without the warm-up; several if a sweep was resumed on another machine
 */
public record Study(
        List<String> command, List<String> shared, Map<String, Double> goodput, List<Environment> environments) {
    public Study {
        command = List.copyOf(command);
        shared = List.copyOf(shared);
        environments = List.copyOf(environments);
    }
}
