package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.bench.load.SubmitSchedule;
import io.roseinfer.bench.load.SubmitSchedule.Mode;
import io.roseinfer.bench.load.Workload;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamingRunTest {
    private static void noFault(long step) {}

    /** A listener that hears nothing but ended requests. */
    private static RunListener counting(Runnable onEnd) {
        return new RunListener() {
            @Override
            public void started(Phase phase, int number, int of, int requests) {}

            @Override
            public void requestEnded() {
                onEnd.run();
            }

            @Override
            public void finished(Phase phase, RunResult result) {}
        };
    }

    private static RunResult run(EngineOptions options, LongConsumer onStep, Workload workload, RunListener listener) {
        Clock clock = Clock.system();
        try (Engine engine = Sim.engine(options, onStep, clock)) {
            return new StreamingRun(engine, workload, SubmitSchedule.burst(), clock, Pacer.precise(clock), listener)
                    .run();
        }
    }

    private static RunResult run(EngineOptions options, Workload workload) {
        return run(options, StreamingRunTest::noFault, workload, counting(() -> {}));
    }

    @Test
    void run_requests_gives_each_the_tokens_it_gets_alone() {
        Workload workload = Sim.workload(20, 5, 7);
        RunResult together = run(Sim.options(true), workload);
        try (Engine engine = Sim.engine(Sim.options(false), StreamingRunTest::noFault, Clock.system())) {
            for (RequestResult result : together.requests()) {
                GenerationRequest request = workload.requests().get(result.id());
                List<Integer> alone = engine.generate(request).tokens().stream()
                        .map(GeneratedToken::id)
                        .toList();
                assertThat(result.ids()).as("request %d", result.id()).isEqualTo(alone);
            }
        }
        assertThat(together.requests()).hasSize(20);
    }

    @Test
    void run_requests_counts_their_tokens() {
        RunResult result = run(Sim.options(true), Sim.workload(6, 5, 7));
        assertThat(result.promptTokens()).isEqualTo(30);
        assertThat(result.completionTokens()).isEqualTo(42);
        assertThat(result.requests()).extracting(RequestResult::finishReason).containsOnly(FinishReason.LENGTH);
    }

    private static double nanos(RequestLatency latency, RequestStamps stamps) {
        return latency.nanos(stamps)[0];
    }

    /** The parts of the time to first token add up, to what the clamp of tokenizing inside the submit call took. */
    @Test
    void run_requests_have_stamps_that_add_up() {
        for (RequestResult result :
                run(Sim.options(true), Sim.workload(50, 5, 3)).requests()) {
            RequestStamps stamps = result.stamps();
            long clamped =
                    Math.max(0, stamps.submitEndNanos() - stamps.timeline().tokenizedNanos());
            assertThat(nanos(RequestLatency.TOKENIZE, stamps)
                            + nanos(RequestLatency.QUEUE_WAIT, stamps)
                            + nanos(RequestLatency.PREFILL, stamps)
                            - clamped)
                    .as("request %d: %s", result.id(), stamps)
                    .isEqualTo(nanos(RequestLatency.TTFT, stamps) - nanos(RequestLatency.ADD_REQUEST, stamps));
            assertThat(stamps.timeline().tokenNanos()).isSorted();
        }
    }

    @Test
    void run_overload_counts_what_was_rejected_and_finishes_the_rest() {
        CountDownLatch allRejected = new CountDownLatch(9);
        EngineOptions options = Sim.options(true).withMaxInflightRequests(1);
        RunResult result =
                run(options, step -> awaitAll(allRejected), Sim.workload(10, 5, 3), counting(allRejected::countDown));
        assertThat(result.rejected()).isEqualTo(9);
        assertThat(result.requests()).extracting(RequestResult::id).containsExactly(0);
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void run_done_leaves_cached_blocks_alone(boolean prefixCache) {
        RunResult result = run(Sim.options(prefixCache), Sim.workload(8, 9, 4));
        assertThat(result.after().blocksInUse()).isZero();
        // 12 of a request's 13 tokens have keys and values: three full blocks, which no other request shares.
        assertThat(result.blocksInUseAfter()).isEqualTo(prefixCache ? 8 * 12 / Sim.BLOCK_SIZE : 0);
    }

    @Test
    void run_device_dies_fails_with_its_reason() {
        LongConsumer thirdStep = step -> {
            if (step == 3) {
                throw new DeviceFailure("the device fell off the bus", false);
            }
        };
        assertThatThrownBy(() -> run(Sim.options(true), thirdStep, Sim.workload(4, 5, 9), counting(() -> {})))
                .isInstanceOfSatisfying(
                        RoseException.class,
                        failure -> assertThat(failure.exitCode()).isEqualTo(7))
                .hasMessageContaining("fell off the bus");
    }

    @Test
    void run_request_that_never_fits_fails_instead_of_measuring_the_others() {
        List<GenerationRequest> requests = new ArrayList<>(Sim.workload(2, 5, 3).requests());
        requests.add(GenerationRequest.ofTokens(Sim.VOCABULARY));
        assertThatThrownBy(() -> run(Sim.options(true), new Workload(requests)))
                .isInstanceOf(RoseException.BadInput.class)
                .hasMessageContaining("token id " + Sim.VOCABULARY);
    }

    /** A clock that stands still but for the pacer, which jumps; so nothing depends on the machine. */
    private static List<Long> deadlines(SubmitSchedule schedule, AtomicLong now, List<Long> lag) {
        List<Long> deadlines = new ArrayList<>();
        Pacer pacer = deadlineNanos -> {
            deadlines.add(deadlineNanos);
            now.set(Math.max(now.get(), deadlineNanos) + 7);
        };
        Clock clock = now::get;
        try (Engine engine = Sim.engine(Sim.options(true), StreamingRunTest::noFault, clock)) {
            StreamingRun run =
                    new StreamingRun(engine, Sim.workload(4, 5, 1), schedule, clock, pacer, counting(() -> {}));
            lag.addAll(run.run().submitLagNanos());
        }
        return deadlines.subList(0, Math.min(4, deadlines.size()));
    }

    @Test
    void run_absolute_schedule_aims_at_multiples_of_the_interval_whatever_the_lag() {
        List<Long> lag = new ArrayList<>();
        SubmitSchedule schedule = new SubmitSchedule(Mode.ABSOLUTE, 2);
        assertThat(deadlines(schedule, new AtomicLong(500), lag))
                .containsExactly(500L, 2_000_500L, 4_000_500L, 6_000_500L);
        assertThat(lag).containsExactly(7L, 7L, 7L, 7L);
    }

    @Test
    void run_relative_schedule_waits_after_each_submit_and_drifts() {
        List<Long> lag = new ArrayList<>();
        SubmitSchedule schedule = new SubmitSchedule(Mode.RELATIVE, 2);
        List<Long> deadlines = deadlines(schedule, new AtomicLong(500), lag);
        assertThat(deadlines.subList(0, 3)).containsExactly(2_000_500L, 4_000_507L, 6_000_514L);
        assertThat(lag).isEmpty();
    }
}
