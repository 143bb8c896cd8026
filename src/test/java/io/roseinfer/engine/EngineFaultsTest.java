package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.SimulationSettings.Faults;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Corner cases that deserve a named test, even if random seeds may cover them; all checks of the simulation apply. */
class EngineFaultsTest {
    private static final int CONTEXT = 64;

    private static SimulationSettings settings(int blocks, int blockSize, SchedulerOptions scheduler) {
        EngineOptions engine = EngineOptions.defaults()
                .withScheduler(scheduler)
                .withBlockSize(blockSize)
                .withKvBlocks(blocks);
        return new SimulationSettings(7, engine, CONTEXT, 50, 2, 0, false, 0, 0, 1, 0, 0, 0, 1, Faults.none());
    }

    private static GenerationRequest request(int firstToken, int promptLength, int newTokens) {
        int[] prompt =
                IntStream.range(0, promptLength).map(i -> (firstToken + i) % 50).toArray();
        return GenerationRequest.ofTokens(prompt).withMaxNewTokens(newTokens).withIgnoreEndOfText(true);
    }

    /** Runs a story on an engine, completes all requests, and compares every outcome with the solo run. */
    private static void simulate(SimulationSettings settings, Consumer<SimulatedEngine> story) {
        try (SimulatedEngine engine = new SimulatedEngine(settings, Trace.silent())) {
            story.accept(engine);
            engine.drain();
            engine.checkOutcomes();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void budget_of_one_token_and_one_row_completes_all_requests(boolean chunked) {
        SchedulerOptions narrow = SchedulerOptions.builder()
                .maxBatchSize(1)
                .prefillMaxBatchSize(1)
                .prefillMaxTokens(1)
                .chunkedPrefill(chunked)
                .build();
        simulate(settings(40, 4, narrow), engine -> {
            for (int i = 0; i < 5; i++) {
                engine.submit(request(i, 9, 5), true);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"64, 1", "1, 256", "1, 64"})
    void pools_of_one_block_and_blocks_of_one_token_work(int blocks, int blockSize) {
        simulate(settings(blocks, blockSize, SchedulerOptions.defaults()), engine -> {
            for (int i = 0; i < 4; i++) {
                engine.submit(request(i, 30, 34), true);
            }
        });
    }

    @Test
    void request_larger_than_the_pool_never_reaches_the_scheduler() {
        simulate(
                settings(1, 16, SchedulerOptions.defaults()),
                engine -> assertThatThrownBy(() -> engine.submit(request(1, 16, 2), true))
                        .isInstanceOf(BadInput.class)
                        .hasMessageContaining("2 KV blocks"));
    }

    @Test
    void pool_one_block_too_small_does_not_preempt_endlessly() {
        SchedulerOptions four = SchedulerOptions.builder().maxBatchSize(4).build();
        simulate(settings(4 * 16 - 1, 4, four), engine -> {
            List<WatchedRequest> all = IntStream.range(0, 4)
                    .mapToObj(i -> engine.submit(request(10 * i, 8, 56), true))
                    .toList();
            engine.drain();
            assertThat(all).extracting(WatchedRequest::preemptions).containsExactly(0, 0, 0, 1);
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void cancelling_every_tenth_request_leaves_the_others_complete(long seed) {
        Dice dice = new Dice(seed, "cancels");
        SchedulerOptions options = SchedulerOptions.builder()
                .chunkedPrefill(true)
                .prefillMaxTokens(40)
                .build();
        simulate(settings(60, 4, options), engine -> {
            List<WatchedRequest> all = IntStream.range(0, 100)
                    .mapToObj(i -> engine.submit(request(i, 1 + i % 20, 1 + i % 30), true))
                    .toList();
            for (int i = 0; i < 100; i += 10) {
                for (int iterations = dice.below(12); iterations > 0; iterations--) {
                    engine.runIteration();
                }
                engine.cancel(all.get(i));
            }
            engine.drain();
            for (int i = 0; i < 100; i++) {
                if (i % 10 != 0) {
                    assertThat(all.get(i).endedWith(FinishReason.LENGTH))
                            .as("seed %d, request %d", seed, i)
                            .isTrue();
                }
            }
        });
    }

    @Test
    void million_requests_in_succession_retain_no_state() {
        SimulationSettings settings = settings(8, 4, SchedulerOptions.defaults());
        OnlineScheduler online = new OnlineScheduler(
                Models.runner(settings.engine(), SimOptions.defaults()),
                settings.engine().scheduler());
        long finished = 0;
        for (int i = 0; i < 1_000_000; i++) {
            online.enqueue(new int[] {i % 50}, 1, SamplingParams.greedy(), 0, true);
            online.step();
            for (long id : online.popFinishedIds()) {
                online.discardRequest(id);
                finished++;
            }
        }
        assertThat(finished).isEqualTo(1_000_000);
        assertThat(online.blocksInUse()).isZero();
    }

    @Test
    void interrupted_reader_ends_only_its_request() {
        simulate(settings(60, 4, SchedulerOptions.defaults()), engine -> {
            WatchedRequest interrupted = engine.submit(request(1, 5, 40), false);
            engine.submit(request(2, 5, 40), true);
            engine.runIteration();
            RequestStream stream = new RequestStream(
                    interrupted.live(), Optional.empty(), Clock.system(), () -> engine.cancel(interrupted));
            Thread.currentThread().interrupt();
            assertThatThrownBy(stream::hasNext).isInstanceOf(CancellationException.class);
            assertThat(Thread.interrupted())
                    .as("the interrupt is kept for the caller")
                    .isTrue();
            engine.drain();
            assertThat(interrupted.endedWith(FinishReason.CANCELLED)).isTrue();
        });
    }

    @Test
    void two_engines_in_one_process_are_independent() {
        Trace alone = Trace.silent();
        simulateConcurrently(alone, Optional.empty());
        Trace concurrent = Trace.silent();
        try (SimulatedEngine other =
                new SimulatedEngine(settings(20, 4, SchedulerOptions.defaults()), Trace.silent())) {
            other.submit(request(3, 20, 40), true);
            simulateConcurrently(concurrent, Optional.of(other));
        }
        assertThat(concurrent.hash()).isEqualTo(alone.hash());
    }

    private static void simulateConcurrently(Trace trace, Optional<SimulatedEngine> other) {
        try (SimulatedEngine engine = new SimulatedEngine(settings(20, 4, SchedulerOptions.defaults()), trace)) {
            engine.submit(request(1, 10, 20), true);
            engine.submit(request(2, 10, 20), true);
            for (int i = 0; i < 10; i++) {
                engine.runIteration();
                other.ifPresent(SimulatedEngine::runIteration);
            }
            engine.drain();
        }
    }
}
