package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs some thousand seeds of the simulation, or {@code -Droseinfer.iters}, and all that ever failed; {@code tools/sim}
 * runs more.
 */
@Tag("sim")
class SimulationTest {
    private static final int SEEDS = Integer.getInteger("roseinfer.iters", 2000);
    private static final int THREAD_SEEDS = Integer.getInteger("roseinfer.iters", 500);
    private static final LongFunction<String> THREADS = new PlantingLoader(Optional.empty()).threads();

    static Stream<Long> regressions() throws IOException {
        try (InputStream file = SimulationTest.class.getResourceAsStream("/sim/regressions.txt")) {
            String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
            return text
                    .lines()
                    .map(line -> line.replaceFirst("#.*", "").strip())
                    .filter(line -> !line.isEmpty())
                    .map(Long::decode)
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("regressions")
    void seed_that_failed_once_passes(long seed) {
        assertThat(Simulation.run(seed).iterations()).isPositive();
        assertThat(OnlineSimulation.run(seed)).isNotNegative();
        assertThat(THREADS.apply(seed)).isNotEmpty();
    }

    @Test
    void every_seed_passes_all_checks_and_all_cases_occur() {
        List<Simulation.Outcome> outcomes = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            outcomes.add(Simulation.run(seed));
        }
        assertThat(outcomes).as("preemptions").anyMatch(o -> o.maxPreemptions() > 1);
        assertThat(outcomes)
                .as("preemptions of one request")
                .allMatch(o -> o.maxPreemptions() <= 2 * Scheduler.MAX_RESTARTS);
        assertThat(outcomes).as("cached tokens").anyMatch(o -> o.cachedTokens() > 0);
        assertThat(outcomes.stream().filter(o -> o.acceptedTokens() > 9).count())
                .as("seeds with accepted drafts")
                .isGreaterThan(SEEDS / 40);
        assertThat(outcomes)
                .as("rejected drafts and preemptions")
                .anyMatch(o -> o.draftTokens() - o.acceptedTokens() > 9 && o.preemptions() > 0);
        assertThat(outcomes).as("skips").anyMatch(o -> o.maxPasses() == AdmissionPolicy.MAX_PASSES);
        assertThat(outcomes).as("cancels").anyMatch(o -> o.cancelled() > 1);
        assertThat(outcomes).as("failures").anyMatch(o -> o.failed() > 1);
        assertThat(outcomes).as("lost steps").anyMatch(o -> o.lostSteps() > 1);
        assertThat(outcomes.stream().filter(o -> o.preemptions() > 0).count())
                .as("seeds with preemptions")
                .isGreaterThan(SEEDS / 20);
    }

    @Test
    void online_scheduler_passes_all_checks() {
        assertThat(LongStream.range(0, SEEDS).mapToInt(OnlineSimulation::run).sum())
                .as("discarded requests")
                .isGreaterThan(SEEDS);
    }

    @Test
    void engine_threads_pass_all_checks_under_any_interleaving() {
        List<String> outcomes = new ArrayList<>();
        for (long seed = 0; seed < THREAD_SEEDS; seed++) {
            outcomes.add(THREADS.apply(seed));
        }
        assertThat(outcomes).as("rejected and accepted requests").anyMatch(o -> !o.contains("overloaded=0"));
        assertThat(outcomes).as("engines that died").anyMatch(o -> o.contains("died=true"));
    }

    @Test
    void equal_seeds_give_equal_runs() {
        LongFunction<String> again = new PlantingLoader(Optional.empty()).threads();
        for (long seed = 0; seed < 30; seed++) {
            assertThat(Simulation.run(seed)).as("seed %d", seed).isEqualTo(Simulation.run(seed));
            assertThat(THREADS.apply(seed)).as("seed %d", seed).isEqualTo(again.apply(seed));
        }
    }

    @Test
    void different_seeds_give_different_runs() {
        assertThat(LongStream.range(0, 30)
                        .map(seed -> Simulation.run(seed).traceHash())
                        .distinct()
                        .count())
                .isEqualTo(30);
    }
}
