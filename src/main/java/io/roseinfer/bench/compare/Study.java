package io.roseinfer.bench.compare;

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
 * @param environments environments of the runs, without the warm-up; several if a sweep was resumed on another machine
 */
public record Study(
        List<String> command,
        List<String> shared,
        @JsonUnwrapped Objectives objectives,
        List<Environment> environments) {
    public Study {
        command = List.copyOf(command);
        shared = List.copyOf(shared);
        environments = List.copyOf(environments);
    }
}
