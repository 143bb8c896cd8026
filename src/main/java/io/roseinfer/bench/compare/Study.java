package io.roseinfer.bench.compare;

import io.roseinfer.bench.report.Environment;
import java.util.List;
import java.util.Map;

/**
 * What the results of a sweep and of a comparison say of their runs.
 *
 * @param command the arguments of the command, its name included
 * @param shared those of them that all runs share, as arguments of bench serve
 * @param goodput maximum milliseconds by metric that make a request good; empty without
 * @param environments what the runs were measured on, without the warm-up; several if a sweep was resumed on another machine
 */
public record Study(
        List<String> command, List<String> shared, Map<String, Double> goodput, List<Environment> environments) {
    public Study {
        command = List.copyOf(command);
        shared = List.copyOf(shared);
        environments = List.copyOf(environments);
    }
}
