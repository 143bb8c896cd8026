package io.roseinfer.bench.compare;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.Objectives;
import java.util.List;

/**
 * Description of the runs of a sweep or comparison.
 *
 * @param command the arguments of the command, including its name
 * @param shared the arguments of bench serve shared by all runs
 * @param objectives bounds of good requests; its members are inlined
 * @param percentiles percentiles of {@code --metric-percentiles}, 0 to 100; absent for 99 alone
 * @param environments environments of the runs, without the warm-up: of A, then B (only one if equal, in files of
 *     earlier versions); of a sweep each different one
 */
public record Study(
        List<String> command,
        List<String> shared,
        @JsonUnwrapped Objectives objectives,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Double> percentiles,
        List<Environment> environments) {
    private static final List<Double> DEFAULT = List.of(99.0);

    public Study {
        command = List.copyOf(command);
        shared = List.copyOf(shared);
        percentiles = percentiles.equals(DEFAULT) ? List.of() : List.copyOf(percentiles);
        environments = List.copyOf(environments);
    }

    /** Returns the percentiles to show. */
    public List<Double> shownPercentiles() {
        return percentiles.isEmpty() ? DEFAULT : percentiles;
    }
}
