package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.EngineAnswer;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class StreamingBenchmarkTest {
    private static final EngineOptions OPTIONS = Sim.options(true);

    private final List<String> heard = Collections.synchronizedList(new ArrayList<>());
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
                heard.add("%s %d/%d of %d".formatted(phase, number, of, requests));
            }

            @Override
            public void requestEnded() {
                heard.add("request");
                onEnd.run();
            }

            @Override
            public void finished(Phase phase, RunResult result) {
                heard.add("done");
            }

            @Override
            public void warmedUp(WarmUp warmUp) {
                heard.add("warmed up by " + warmUp.runs());
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
    void run_warmups_and_repeats_returns_the_repeats_alone() {
        assertThat(run(1, 2)).hasSize(2);
        assertThat(heard)
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
        assertThat(runs.warmUp().automatic()).isTrue();
        assertThat(runs.warmUp().difference()).isPresent();
        assertThat(heard).containsSubsequence("warmed up by " + runs.warmUp().runs(), "MEASURED 1/2 of 2");
        assertThat(heard).noneMatch(line -> line.startsWith("WARMUP"));
    }

    @Test
    void run_second_run_finds_nothing_of_the_first_in_the_prefix_cache() {
        assertThat(run(0, 2))
                .extracting(result -> result.after().total(Fact.CACHED_TOKENS))
                .containsExactly(0L, 0L);
    }

    private static EngineAnswer answer(CallResult call) {
        return call.engine().orElseThrow();
    }

    @Test
    void run_requests_gives_each_the_tokens_it_gets_alone() {
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
    void run_requests_counts_their_tokens() {
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

    /** The parts of the time to first token add up, to what the clamp of tokenizing inside the submit call took. */
    @Test
    void run_requests_have_stamps_that_add_up() {
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
    void run_overload_counts_what_was_rejected_and_finishes_the_rest() {
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
    void run_done_leaves_cached_blocks_alone(boolean prefixCache) {
        RunResult result = run(Sim.options(prefixCache), Sim.load(8, 9, 4));
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
        assertThatThrownBy(() -> run(0, 1, OPTIONS, thirdStep, Sim.load(4, 5, 9)))
                .isInstanceOfSatisfying(
                        RoseException.class,
                        failure -> assertThat(failure.exitCode()).isEqualTo(7))
                .hasMessageContaining("fell off the bus");
    }

    /** The others have 50 tokens each to go, and no request follows that would show whether more are sent. */
    @Test
    void run_request_that_never_fits_fails_instead_of_measuring_the_others() {
        List<OfferedRequest> requests = new ArrayList<>(Sim.load(2, 5, 50).requests());
        requests.add(new OfferedRequest(0, new Prompt.Tokens(Sim.VOCABULARY), 3));
        assertThatThrownBy(() -> run(OPTIONS, new OfferedLoad(requests, OfferedLoad.Pacing.BURST)))
                .isInstanceOf(RoseException.BadInput.class)
                .hasMessageContaining("token id " + Sim.VOCABULARY);
    }
}
