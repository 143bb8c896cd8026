package io.roseinfer.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.Objectives;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OfRunsTest {
    private static Study study(String... costs) {
        List<Environment> environments = new ArrayList<>();
        for (String source : costs) {
            environments.add(Environment.simulated("25", Optional.empty(), source, List.of()));
        }
        return new Study(List.of(), List.of(), Objectives.NONE, List.of(), environments);
    }

    private static SweepPoint point(int environment, String batch, String rate) {
        return new SweepPoint(Map.of("batch", batch, "rate", rate), Map.of(), 0, List.of()).in(environment);
    }

    private static String lines(Study study, SweepPoint... points) {
        return OfRuns.simulatedLines(OfRuns.points(study, List.of(points), SweepReport::flags, Environment::simulated));
    }

    @Test
    void source_of_one_arm_is_named() {
        assertThat(OfRuns.simulatedLines(OfRuns.arms(study("x", "y"), Environment::simulated)))
                .isEqualTo("Simulated time of A: x\nSimulated time of B: y\n");
        assertThat(OfRuns.simulatedLines(OfRuns.arms(study("x", "x"), Environment::simulated)))
                .isEqualTo("Simulated time: x\n");
    }

    @Test
    void source_of_some_points_is_named_by_the_flag_that_separates_them() {
        assertThat(lines(study("x", "y"), point(0, "1", "5"), point(0, "1", "6"), point(1, "2", "5")))
                .isEqualTo("Simulated time of batch=1: x\nSimulated time of batch=2: y\n");
        assertThat(lines(study("x", "y", "y"), point(1, "1", "5"), point(2, "2", "6")))
                .isEqualTo("Simulated time: y\n");
    }

    @Test
    void points_that_no_flag_separates_are_named_by_all_flags() {
        assertThat(lines(study("x", "y"), point(0, "1", "5"), point(1, "1", "6"), point(1, "2", "5")))
                .containsPattern("of (batch=1 rate=5|rate=5 batch=1): x\n")
                .containsPattern("of [^;\\n]*(batch=1 rate=6|rate=6 batch=1)[^;\\n]*; [^;\\n]*: y\n");
    }

    @Test
    void sources_of_points_without_a_known_environment_have_no_name() {
        SweepPoint earlier = new SweepPoint(Map.of("rate", "1"), Map.of(), 0, List.of());
        assertThat(lines(study("x", "y"), earlier)).isEqualTo("Simulated time: x\nSimulated time: y\n");
    }
}
