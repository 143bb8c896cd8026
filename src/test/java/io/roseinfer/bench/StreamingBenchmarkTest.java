package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.EngineResponse;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.Prompt;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("process")
@Timeout(60)
class StreamingBenchmarkTest {
    private static final EngineOptions OPTIONS = Sim.options(true);

    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private Runnable onEnd = () -> {};

    private List<RunResult> run(
            int warmups, int repeats, EngineOptions options, LongConsumer onStep, OfferedLoad load) {
        return runs(OptionalInt.of(warmups), repeats, options, onStep, load).measured();
    }

    private StreamingBenchmark.Runs runs(
            OptionalInt warmups, int repeats, EngineOptions options, LongConsumer onStep, OfferedLoad load) {
        Clock clock = Clock.system();
        RunListener listener = new RunListener() {
            @Override
            public void started(Phase phase, int number, int of, int requests) {
                events.add("%s %d/%d of %d".formatted(phase, number, of, requests));
            }

            @Override
            public void requestEnded() {
                events.add("request");
                onEnd.run();
            }

            @Override
            public void finished(Phase phase, RunResult result) {
                events.add("done");
            }

            @Override
            public void warmedUp(WarmUp warmUp) {
                events.add("warmed up by " + warmUp.runs());
            }
        };
        try (SimRunner runner = Sim.runner(options, onStep)) {
            return new StreamingBenchmark(
                            () -> Engine.open(runner, Optional.empty(), options, clock),
                            load,
                            Sim.template(),
                            clock,
                            listener)
                    .run(warmups, repeats);
        }
    }

    private List<RunResult> run(int warmups, int repeats) {
        return run(warmups, repeats, OPTIONS, step -> {}, Sim.load(2, 9, 3));
    }

    private RunResult run(EngineOptions options, OfferedLoad load) {
        return run(0, 1, options, step -> {}, load).getFirst();
    }

    @Test
    void warm_up_runs_are_excluded_from_results() {
        assertThat(run(1, 2)).hasSize(2);
        assertThat(events)
                .containsExactly(
                        "WARMUP 1/1 of 2",
                        "request",
                        "request",
                        "done",
                        "warmed up by 1",
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
    void warm_up_without_a_number_compares_at_least_two_runs_before_the_measured_ones() {
        StreamingBenchmark.Runs runs = runs(OptionalInt.empty(), 2, OPTIONS, step -> {}, Sim.load(2, 9, 3));
        assertThat(runs.measured()).hasSize(2);
        assertThat(runs.warmUp().runs()).isGreaterThanOrEqualTo(2);
        assertThat(runs.warmUp().steady()).isPresent();
        assertThat(runs.warmUp().difference()).isPresent();
        assertThat(events).containsSubsequence("warmed up by " + runs.warmUp().runs(), "MEASURED 1/2 of 2");
        assertThat(events).noneMatch(line -> line.startsWith("WARMUP"));
    }

    @Test
    void prefix_cache_is_cleared_between_runs() {
        assertThat(run(0, 2))
                .extracting(result -> result.after().total(Fact.CACHED_TOKENS))
                .containsExactly(0L, 0L);
    }

    private static EngineResponse answer(CallResult call) {
        return call.engine().orElseThrow();
    }

    @Test
    void tokens_under_load_equal_those_of_a_solo_run() {
        OfferedLoad load = Sim.load(20, 5, 7);
        RunResult together = run(OPTIONS, load);
        try (Engine engine = Sim.engine(Sim.options(false), step -> {}, Clock.system())) {
            for (CallResult call : together.requests()) {
                int[] alone = engine.generate(Sim.template()
                                .withPrompt(load.requests().get(call.id()).prompt())
                                .withMaxNewTokens(7))
                        .ids();
                assertThat(answer(call).ids()).as("request %d", call.id()).isEqualTo(alone);
            }
        }
        assertThat(together.requests()).hasSize(20);
    }

    @Test
    void prompt_and_completion_tokens_are_counted() {
        RunResult result = run(OPTIONS, Sim.load(6, 5, 7));
        assertThat(result.promptTokens()).isEqualTo(30);
        assertThat(result.completionTokens()).isEqualTo(42);
        assertThat(result.requests())
                .extracting(call -> answer(call).finishReason())
                .containsOnly(FinishReason.LENGTH);
    }

    private static double nanos(RequestLatency latency, RequestStamps stamps) {
        return latency.nanos(stamps)[0];
    }

    /** The components of TTFT add up after adding back the tokenize time that is clamped in the submit call. */
    @Test
    void timestamps_add_up_to_the_time_to_first_token() {
        for (CallResult call : run(OPTIONS, Sim.load(50, 5, 3)).requests()) {
            RequestStamps stamps = answer(call).stamps();
            long clamped =
                    Math.max(0, stamps.submitEndNanos() - stamps.timeline().tokenizedNanos());
            assertThat(nanos(RequestLatency.TOKENIZE, stamps)
                            + nanos(RequestLatency.QUEUE_WAIT, stamps)
                            + nanos(RequestLatency.PREFILL, stamps)
                            - clamped)
                    .as("request %d: %s", call.id(), stamps)
                    .isEqualTo(nanos(RequestLatency.TTFT, stamps) - nanos(RequestLatency.ADD_REQUEST, stamps));
            assertThat(stamps.timeline().tokenNanos()).isSorted();
        }
    }

    @Test
    void rejected_requests_are_counted_and_accepted_ones_complete() {
        CountDownLatch allRejected = new CountDownLatch(9);
        onEnd = allRejected::countDown;
        EngineOptions options = OPTIONS.withMaxInflightRequests(1);
        RunResult result = run(0, 1, options, step -> awaitAll(allRejected), Sim.load(10, 5, 3))
                .getFirst();
        assertThat(result.rejected()).isEqualTo(9);
        assertThat(result.requests()).extracting(CallResult::id).containsExactly(0);
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
    void finished_run_keeps_only_cached_blocks(boolean prefixCache) {
        RunResult result = run(Sim.options(prefixCache), Sim.load(8, 9, 4));
        assertThat(result.after().blocksInUse()).isZero();
        // 12 of a request's 13 tokens have keys and values: three full blocks, shared with no other request.
        assertThat(result.blocksInUseAfter()).isEqualTo(prefixCache ? 8 * 12 / Sim.BLOCK_SIZE : 0);
    }

    @Test
    void failed_device_fails_the_run_with_its_reason() {
        LongConsumer thirdStep = step -> {
            if (step == 3) {
                throw new DeviceFailure("the device fell off the bus", false);
            }
        };
        assertThatThrownBy(() -> run(0, 1, OPTIONS, thirdStep, Sim.load(4, 5, 9)))
                .isInstanceOfSatisfying(
                        RoseException.class,
                        failure -> assertThat(failure.exitCode()).isEqualTo(7))
                .hasMessageContaining("fell off the bus");
    }

    /** The other requests have 50 tokens each, and the invalid request is the last one. */
    @Test
    void invalid_request_fails_the_run() {
        List<OfferedRequest> requests = new ArrayList<>(Sim.load(2, 5, 50).requests());
        requests.add(OfferedRequest.of(0, new Prompt.Tokens(Sim.VOCABULARY), 3));
        assertThatThrownBy(() -> run(OPTIONS, new OfferedLoad(requests, OfferedLoad.Pacing.BURST)))
                .isInstanceOf(RoseException.BadInput.class)
                .hasMessageContaining("token id " + Sim.VOCABULARY);
    }
}
