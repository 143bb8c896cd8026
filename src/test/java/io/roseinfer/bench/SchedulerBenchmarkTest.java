package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.SchedulerBenchmark.Mode;
import io.roseinfer.bench.SchedulerRun.RequestTimes;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.observe.Observers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SchedulerBenchmarkTest {
    /** Duration of a step on the run's clock; nothing else takes time. */
    private static final long SECOND = 1_000_000_000;

    private final List<String> banners = new ArrayList<>();

    private List<SchedulerRun> run(
            EngineOptions options, Mode mode, int warmups, int repeats, List<GenerationRequest> workload) {
        AtomicLong now = new AtomicLong(SECOND);
        try (SimRunner runner = Sim.runner(options, step -> now.addAndGet(SECOND))) {
            return new SchedulerBenchmark(runner, options.scheduler(), workload, 0, now::get, Observers.NONE)
                    .run(mode, warmups, repeats, (phase, number, of) -> banners.add(phase + " " + number + "/" + of));
        }
    }

    private SchedulerRun run(Mode mode, List<GenerationRequest> workload) {
        return run(Sim.options(false), mode, 0, 1, workload).getFirst();
    }

    @Test
    void online_mode_prefills_one_by_one_and_decodes_in_one_batch() {
        SchedulerRun run = run(Mode.ONLINE, Sim.workload(3, 5, 4));
        assertThat(run.prefillNanos()).isEqualTo(3 * SECOND);
        assertThat(run.decodeNanos()).isEqualTo(3 * SECOND);
        assertThat(run.requests()).extracting(RequestTimes::ttftNanos).containsOnly(SECOND);
        assertThat(run.requests())
                .extracting(times -> times.latencyNanos() / SECOND)
                .containsExactly(6L, 5L, 4L);
    }

    @Test
    void offline_mode_batches_prefill_and_decode() {
        assertThat(run(Mode.OFFLINE, Sim.workload(3, 5, 4)).totalNanos()).isEqualTo(4 * SECOND);
    }

    @Test
    void naive_mode_runs_requests_sequentially() {
        assertThat(run(Mode.NAIVE, Sim.workload(3, 5, 4)).totalNanos()).isEqualTo(12 * SECOND);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void every_mode_generates_the_requested_tokens(Mode mode) {
        SchedulerRun run = run(mode, Sim.workload(20, 5, 4));
        assertThat(run.promptTokens()).isEqualTo(100);
        assertThat(run.completionTokens()).isEqualTo(80);
        assertThat(run.decodedTokens()).isEqualTo(60);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void requests_of_one_token_end_with_the_prefill(Mode mode) {
        SchedulerRun run = run(mode, Sim.workload(3, 5, 1));
        assertThat(run.requests()).extracting(RequestTimes::completionTokens).containsOnly(1);
    }

    /** The pool fits one request of 9 tokens: the second request waits until the first ends. */
    @Test
    @Timeout(20)
    void online_mode_decodes_until_the_pool_has_free_blocks() {
        SchedulerRun run = run(Sim.options(false).withKvBlocks(3), Mode.ONLINE, 0, 1, Sim.workload(3, 5, 4))
                .getFirst();
        assertThat(run.completionTokens()).isEqualTo(12);
    }

    @Test
    void warm_up_runs_are_excluded_from_results() {
        assertThat(run(Sim.options(true), Mode.ONLINE, 1, 2, Sim.workload(2, 5, 2)))
                .hasSize(2);
        assertThat(banners).containsExactly("WARMUP 1/1", "MEASURED 1/2", "MEASURED 2/2");
    }

    @Test
    void request_larger_than_the_pool_is_rejected() {
        List<GenerationRequest> workload = List.of(GenerationRequest.ofTokens(Sim.VOCABULARY));
        assertThatThrownBy(() -> run(Mode.ONLINE, workload))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("token id " + Sim.VOCABULARY);
    }
}
