package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.load.SubmitSchedule;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StreamingBenchmarkTest {
    private static final EngineOptions OPTIONS = Sim.options(true);

    private final List<String> heard = Collections.synchronizedList(new ArrayList<>());

    private List<RunResult> run(int warmups, int repeats) {
        Clock clock = Clock.system();
        RunListener listener = new RunListener() {
            @Override
            public void started(Phase phase, int number, int of, int requests) {
                heard.add("%s %d/%d of %d".formatted(phase, number, of, requests));
            }

            @Override
            public void requestEnded() {
                heard.add("request");
            }

            @Override
            public void finished(Phase phase, RunResult result) {
                heard.add("done");
            }
        };
        try (SimRunner runner = Sim.runner(OPTIONS, step -> {})) {
            return new StreamingBenchmark(
                            () -> Engine.open(runner, Optional.empty(), OPTIONS, clock),
                            Sim.workload(2, 9, 3),
                            SubmitSchedule.burst(),
                            clock,
                            listener)
                    .run(warmups, repeats);
        }
    }

    @Test
    void run_warmups_and_repeats_returns_the_repeats_alone() {
        assertThat(run(1, 2)).hasSize(2);
        assertThat(heard)
                .containsExactly(
                        "WARMUP 1/1 of 2",
                        "request",
                        "request",
                        "done",
                        "MEASURED 1/2 of 2",
                        "request",
                        "request",
                        "done",
                        "MEASURED 2/2 of 2",
                        "request",
                        "request",
                        "done");
    }

    @Test
    void run_second_run_finds_nothing_of_the_first_in_the_prefix_cache() {
        assertThat(run(0, 2))
                .extracting(result -> result.after().total(Fact.CACHED_TOKENS))
                .containsExactly(0L, 0L);
    }
}
