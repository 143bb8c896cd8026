package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the engine on its own thread. Nothing sleeps: tests wait for events, and the timeout detects hangs. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EngineTest {

    /** A device that blocks until it is released, so that a test can act in the middle of a step. */
    private static final class Gate {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        SimOptions atStep(int wanted) {
            return SimOptions.defaults().withOnStep(step -> {
                if (step == wanted) {
                    awaitQuietly(reached, open);
                }
            });
        }

        private static void awaitQuietly(CountDownLatch reached, CountDownLatch open) {
            reached.countDown();
            awaitQuietly(open);
        }

        private static void awaitQuietly(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void awaitNoBlocks(Engine engine) {
        while (engine.stats().blocksInUse() > 0
                || engine.stats().active() > 0
                || engine.stats().waiting() > 0) {
            Thread.onSpinWait();
        }
    }

    /** Waits until the engine has begun to close, by submitting a request that no engine could serve. */
    private static void awaitRefusal(Engine engine) {
        while (true) {
            try {
                engine.submit(Models.request(1, Models.VOCABULARY));
            } catch (BadInput stillServing) {
                Thread.onSpinWait();
            } catch (EngineStopped closing) {
                return;
            }
        }
    }

    @Test
    void concurrent_callers_get_their_own_tokens() throws Exception {
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults());
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<int[]>> results = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                GenerationRequest request = Models.request(1 + i % 20, i, i + 1);
                results.add(callers.submit(() -> engine.generate(request).ids()));
            }
            for (int i = 0; i < 200; i++) {
                GenerationRequest request = Models.request(1 + i % 20, i, i + 1);
                assertThat(results.get(i).get())
                        .as("request %d", i)
                        .isEqualTo(engine.generate(request).ids());
            }
            awaitNoBlocks(engine);
        }
    }

    @Test
    void closing_a_stream_early_releases_its_blocks() throws Exception {
        Gate gate = new Gate();
        try (Engine engine = Models.engine(Models.options(), gate.atStep(3))) {
            TokenStream stream = engine.submit(Models.request(40, 1, 2, 3));
            gate.reached.await();
            stream.close();
            stream.close();
            gate.open.countDown();
            assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.CANCELLED);
            awaitNoBlocks(engine);
        }
    }

    @Test
    void delivered_tokens_stay_readable_after_the_stream_is_closed() throws Exception {
        GenerationRequest request = Models.request(40, 1, 2, 3);
        int[] whole;
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults())) {
            whole = engine.generate(request).ids();
        }
        Gate gate = new Gate();
        try (Engine engine = Models.engine(Models.options(), gate.atStep(6))) {
            TokenStream stream = engine.submit(request);
            gate.reached.await();
            stream.close();
            gate.open.countDown();
            awaitNoBlocks(engine);

            List<Integer> read = new ArrayList<>();
            stream.forEachRemaining(token -> read.add(token.id()));
            assertThat(read).hasSizeGreaterThan(2);
            assertThat(whole).startsWith(stream.completion().ids());
            assertThat(stream.completion().ids())
                    .containsExactly(read.stream().mapToInt(id -> id).toArray());
            assertThat(stream.finishReason()).contains(FinishReason.CANCELLED);
        }
    }

    @Test
    void unreachable_stream_ends_its_request() {
        AtomicReference<WeakReference<TokenStream>> dropped = new AtomicReference<>();
        SimOptions slow = SimOptions.defaults().withOnStep(step -> {
            while (dropped.get() == null || dropped.get().get() != null) {
                System.gc();
            }
            // The cleaner's thread must notice within the remaining steps of the request.
            LockSupport.parkNanos(2_000_000);
        });
        try (Engine engine = Models.engine(Models.options(), slow)) {
            dropped.set(new WeakReference<>(engine.submit(Models.request(60, 1))));
            awaitNoBlocks(engine);
            assertThat(engine.stats().steps()).isLessThan(60);
        }
    }

    @Test
    void throwing_action_does_not_affect_the_reader() {
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults())) {
            AtomicInteger thrown = new AtomicInteger();
            TokenStream spoilt = engine.submit(Models.request(30, 1));
            assertThat(spoilt.next()).isNotNull();
            spoilt.onDelivery(() -> {
                thrown.incrementAndGet();
                throw new IllegalStateException("spoilt");
            });
            assertThat(engine.generate(Models.request(8, 2)).ids()).hasSize(8);
            assertThat(spoilt.completion().ids()).hasSize(30);
            assertThat(thrown).hasPositiveValue();
        }
    }

    @Test
    void second_thread_that_waits_for_a_stream_is_rejected() throws Exception {
        Gate gate = new Gate();
        try (Engine engine = Models.engine(Models.options(), gate.atStep(0))) {
            TokenStream stream = engine.submit(Models.request(3, 1));
            CompletableFuture<Boolean> first = new CompletableFuture<>();
            Thread reader = Thread.ofPlatform().name("first").start(() -> first.complete(stream.hasNext()));
            while (reader.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(stream::hasNext)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the thread first already waits");
            gate.open.countDown();
            assertThat(first.get()).isTrue();
            reader.join();
            assertThat(stream.completion().ids()).hasSize(3);
        }
    }

    @Test
    void action_that_waits_for_its_own_stream_is_rejected_and_blocks_no_request() {
        Gate gate = new Gate();
        try (Engine engine = Models.engine(Models.options(), gate.atStep(0))) {
            AtomicReference<RuntimeException> refused = new AtomicReference<>();
            TokenStream stream = engine.submit(Models.request(3, 1));
            stream.onDelivery(() -> {
                try {
                    Completion unused = stream.completion();
                } catch (IllegalStateException e) {
                    refused.set(e);
                }
            });
            gate.open.countDown();
            assertThat(engine.generate(Models.request(8, 2)).ids()).hasSize(8);
            assertThat(refused.get()).hasMessageContaining("onDelivery");
        }
    }

    @Test
    void action_that_waits_for_another_stream_is_rejected_and_blocks_no_request() {
        Gate gate = new Gate();
        try (Engine engine = Models.engine(Models.options(), gate.atStep(0))) {
            List<Throwable> refused = new CopyOnWriteArrayList<>();
            TokenStream one = engine.submit(Models.request(3, 1));
            TokenStream other = engine.submit(Models.request(60, 2));
            one.onDelivery(() -> {
                refused.add(catchThrowable(other::completion));
                refused.add(catchThrowable(() -> engine.generate(Models.request(3, 3))));
            });
            gate.open.countDown();
            assertThat(one.completion().ids()).hasSize(3);
            assertThat(other.completion().ids()).hasSize(60);
            assertThat(refused)
                    .isNotEmpty()
                    .allSatisfy(each -> assertThat(each)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("onDelivery"));
        }
    }

    @Test
    void action_that_closes_the_engine_on_its_thread_is_rejected() throws Exception {
        Gate gate = new Gate();
        try (Engine engine = Models.engine(Models.options(), gate.atStep(0))) {
            List<Throwable> refused = new CopyOnWriteArrayList<>();
            TokenStream stream = engine.submit(Models.request(3, 1));
            stream.onDelivery(() -> {
                refused.add(catchThrowable(engine::close));
                refused.add(catchThrowable(() -> engine.close(Duration.ofSeconds(1))));
            });
            gate.open.countDown();
            assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.LENGTH);
            assertThat(engine.generate(Models.request(8, 2)).ids()).hasSize(8);
            assertThat(refused)
                    .isNotEmpty()
                    .allSatisfy(each -> assertThat(each)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("close the engine on another thread"));
        }
    }

    @Test
    void replica_numbers_out_of_range_are_rejected() {
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults())) {
            assertThatThrownBy(() -> engine.failure(7))
                    .isInstanceOf(BadInput.class)
                    .hasMessage("there is no replica 7; the engine has 1 replica, number 0");
            assertThatThrownBy(() -> engine.steps(-1, 0, 1)).isInstanceOf(BadInput.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stream_whose_action_refers_to_it_is_collected_after_its_end(boolean endedBefore) throws Exception {
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults())) {
            WeakReference<TokenStream> stream = readByAction(engine, endedBefore);
            for (int collections = 0; collections < 500 && stream.get() != null; collections++) {
                System.gc();
            }
            assertThat(stream.get()).isNull();
        }
    }

    /** A separate method, so that no reference to the stream stays on the stack. */
    private static WeakReference<TokenStream> readByAction(Engine engine, boolean endedBefore) throws Exception {
        TokenStream stream = engine.submit(Models.request(3, 1));
        if (endedBefore) {
            assertThat(stream.completion().ids()).hasSize(3);
        }
        CountDownLatch notified = new CountDownLatch(1);
        stream.onDelivery(() -> {
            if (stream.finishReason().isPresent()) {
                notified.countDown();
            }
        });
        assertThat(stream.completion().ids()).hasSize(3);
        notified.await();
        return new WeakReference<>(stream);
    }

    @Test
    void closed_engine_that_refers_to_its_streams_is_collected_with_them() {
        WeakReference<TokenStream> stream = servedAndForgotten();
        for (int collections = 0; collections < 500 && stream.get() != null; collections++) {
            System.gc();
        }
        assertThat(stream.get()).isNull();
    }

    /**
     * Returns the stream of an engine whose device refers to all its streams; it was read to the end and not closed.
     */
    private static WeakReference<TokenStream> servedAndForgotten() {
        List<TokenStream> streams = new CopyOnWriteArrayList<>();
        SimOptions leads =
                SimOptions.defaults().withOnStep(step -> assertThat(streams).isNotNull());
        try (Engine engine = Models.engine(Models.options(), leads)) {
            streams.add(engine.submit(Models.request(3, 1)));
            assertThat(streams.getFirst().completion().ids()).hasSize(3);
        }
        return new WeakReference<>(streams.getFirst());
    }

    @Test
    void requests_beyond_the_limit_are_rejected_until_one_has_ended() throws Exception {
        Gate gate = new Gate();
        try (Engine engine = Models.engine(Models.options().withMaxInflightRequests(2), gate.atStep(0))) {
            TokenStream first = engine.submit(Models.request(2, 1));
            TokenStream second = engine.submit(Models.request(2, 2));
            assertThatThrownBy(() -> engine.submit(Models.request(2, 3)))
                    .isInstanceOf(Overloaded.class)
                    .hasMessageContaining("maxInflightRequests");
            gate.open.countDown();
            assertThat(first.completion().ids()).hasSize(2);
            assertThat(second.completion().ids()).hasSize(2);
            assertThat(engine.generate(Models.request(2, 3)).ids()).hasSize(2);
        }
    }

    @Test
    void finished_request_frees_its_place_before_notification() {
        try (Engine engine = Models.engine(Models.options().withMaxInflightRequests(1), SimOptions.defaults())) {
            for (int i = 0; i < 2000; i++) {
                assertThat(engine.generate(Models.request(1, i % 100)).ids()).hasSize(1);
            }
        }
    }

    @Test
    void failed_engine_leaves_no_step_in_flight_on_its_runner() throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        AdmissionPolicy policy = new AdmissionPolicy() {
            @Override
            public int lookahead() {
                return 4;
            }

            @Override
            public long rank(WaitingRequest request, QueueView queue) {
                if (broken.get()) {
                    throw new IllegalStateException("odd indeed");
                }
                return 0;
            }
        };
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder().admission(policy).build());
        Gate gate = new Gate();
        SimRunner runner = Models.runner(options, gate.atStep(5).withMaxInFlight(2));
        try (runner) {
            int[] wanted;
            try (Engine engine = Engine.open(runner, Optional.empty(), options, Models.ticking())) {
                wanted = engine.generate(Models.request(1, 5, 6, 7)).ids();
                engine.submit(Models.request(60, 1, 2));
                gate.reached.await();
                broken.set(true);
                TokenStream unlucky = engine.submit(Models.request(1, 5, 6, 7));
                gate.open.countDown();
                assertThatThrownBy(unlucky::completion).hasMessageContaining("odd indeed");
            }
            broken.set(false);
            try (Engine next = Engine.open(runner, Optional.empty(), options, Models.ticking())) {
                assertThat(next.generate(Models.request(1, 5, 6, 7)).ids()).isEqualTo(wanted);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 9})
    void stop_string_in_the_last_allowed_token_ends_the_completion_with_stop(int maxNewTokens) {
        Settings tiny = Settings.of("builtin:tiny").withDevice(Settings.Device.CPU);
        try (Engine engine = Roseinfer.open(tiny)) {
            GenerationRequest request = GenerationRequest.of("Once upon a time").withIgnoreEndOfText(true);
            String eighth = engine.generate(request.withMaxNewTokens(8))
                    .tokens()
                    .getLast()
                    .text();
            Completion stopped =
                    engine.generate(request.withMaxNewTokens(maxNewTokens).withStop(eighth));
            assertThat(stopped.ids()).hasSize(8);
            assertThat(stopped.finishReason()).isEqualTo(FinishReason.STOP);
            assertThat(stopped.stopString()).contains(eighth);
        }
    }

    @Test
    void completion_reports_the_stop_string_that_ended_it() {
        Settings tiny = Settings.of("builtin:tiny").withDevice(Settings.Device.CPU);
        try (Engine engine = Roseinfer.open(tiny)) {
            GenerationRequest request = GenerationRequest.of("Once upon a time")
                    .withIgnoreEndOfText(true)
                    .withMaxNewTokens(8);
            String fifth = engine.generate(request).tokens().get(4).text();
            assertThat(engine.generate(request.withStop("not in it", fifth, fifth + "nor this"))
                            .stopString())
                    .contains(fifth);
            assertThat(engine.generate(request.withStop("not in it")).stopString())
                    .isEmpty();
        }
    }

    @Test
    void concurrent_closes_run_the_close_actions_once() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Engine engine = Models.engine(Models.options(), SimOptions.defaults()).onClose(runs::incrementAndGet);
        List<Thread> closers = IntStream.range(0, 8)
                .mapToObj(i -> Thread.ofPlatform().start(engine::close))
                .toList();
        for (Thread closer : closers) {
            closer.join();
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void close_ends_every_stream_once_and_rejects_later_requests() throws Exception {
        Gate gate = new Gate();
        Engine engine = Models.engine(Models.options(), gate.atStep(2));
        List<TokenStream> streams = IntStream.range(0, 30)
                .mapToObj(i -> engine.submit(Models.request(50, i)))
                .toList();
        gate.reached.await();
        Thread closer = Thread.ofVirtual().start(engine::close);
        awaitRefusal(engine);
        gate.open.countDown();
        closer.join();
        assertThat(streams)
                .allSatisfy(s -> assertThat(s.completion().finishReason()).isEqualTo(FinishReason.CANCELLED));
        assertThatThrownBy(() -> engine.submit(Models.request(1, 1)))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("closed");
        engine.close();
    }

    @Test
    void close_with_grace_completes_accepted_requests() {
        Engine engine = Models.engine(Models.options(), SimOptions.defaults());
        List<TokenStream> streams = IntStream.range(0, 30)
                .mapToObj(i -> engine.submit(Models.request(10, i)))
                .toList();
        assertThat(engine.close(Duration.ofMinutes(1))).isTrue();
        assertThat(streams).allSatisfy(s -> assertThat(s.completion().ids()).hasSize(10));
    }

    @Test
    void close_with_grace_ends_running_requests_when_the_time_is_up() throws Exception {
        Gate gate = new Gate();
        EngineOptions options = Models.options();
        // The manager reads the clock in its close after telling the workers to stop; only then the
        // first step continues.
        Clock clock = () -> {
            if (StackWalker.getInstance().walk(frames -> frames.anyMatch(EngineTest::isManagersClose))) {
                gate.open.countDown();
            }
            return 1;
        };
        Engine engine = Engine.open(Models.runner(options, gate.atStep(0)), Optional.empty(), options, clock);
        TokenStream stream = engine.submit(Models.request(50, 1));
        gate.reached.await();
        assertThat(engine.close(Duration.ZERO)).isFalse();
        assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.CANCELLED);
        assertThat(stream.completion().ids()).hasSizeLessThan(50);
    }

    @Test
    void negative_grace_closes_at_once() {
        Engine engine = Models.engine(Models.options(), SimOptions.defaults());
        assertThat(engine.close(Duration.ofSeconds(-1))).isTrue();
        assertThat(engine.isClosed()).isTrue();
    }

    private static boolean isManagersClose(StackWalker.StackFrame frame) {
        return frame.getClassName().equals(SchedulerManager.class.getName())
                && frame.getMethodName().equals("close");
    }

    @Test
    void engine_that_fails_while_draining_reports_incomplete_requests() {
        Gate gate = new Gate();
        SimOptions failing = SimOptions.defaults().withOnStep(step -> {
            gate.reached.countDown();
            Gate.awaitQuietly(gate.open);
            throw new DeviceFailure("device lost", false);
        });
        Engine engine = Models.engine(Models.options(), failing);
        TokenStream stream = engine.submit(Models.request(5, 1));
        CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(() -> engine.close(Duration.ofDays(1)));
        awaitRefusal(engine);
        gate.open.countDown();
        assertThat(drained.join()).isFalse();
        assertThatThrownBy(stream::completion).hasMessageContaining("device lost");
    }

    @Test
    void engine_closed_while_draining_reports_incomplete_requests() throws Exception {
        Gate gate = new Gate();
        AtomicReference<Thread> other = new AtomicReference<>(Thread.currentThread());
        AtomicBoolean stopping = new AtomicBoolean();
        // The other thread reads the clock first after its command to stop the engine.
        Clock clock = () -> {
            if (Thread.currentThread().equals(other.get()) && stopping.get()) {
                gate.open.countDown();
            }
            return 1;
        };
        EngineOptions options = Models.options();
        Engine engine = Engine.open(Models.runner(options, gate.atStep(0)), Optional.empty(), options, clock);
        TokenStream stream = engine.submit(Models.request(50, 1));
        gate.reached.await();
        CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(() -> engine.close(Duration.ofDays(1)));
        awaitRefusal(engine);
        stopping.set(true);
        engine.close();
        assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.CANCELLED);
        assertThat(drained.join()).isFalse();
    }

    @Test
    void cancelled_expired_and_failed_requests_count_as_completed() {
        SimOptions losing = SimOptions.defaults().withOnStep(step -> {
            throw new DeviceFailure("step lost", true);
        });
        Engine engine = Models.engine(Models.options(), losing);
        TokenStream failed = engine.submit(Models.request(5, 1));
        TokenStream closed = engine.submit(Models.request(5, 2));
        closed.close();
        assertThat(engine.close(Duration.ofDays(1))).isTrue();
        assertThatThrownBy(failed::completion).hasMessageContaining("step lost");
    }

    @Test
    void close_with_a_hanging_device_reports_its_location_and_keeps_memory() throws Exception {
        Gate gate = new Gate();
        AtomicBoolean closing = new AtomicBoolean();
        AtomicLong now = new AtomicLong();
        Clock clock = () -> now.addAndGet(closing.get() ? SchedulerManager.STOP_LIMIT_NANOS : 1);
        AtomicInteger freed = new AtomicInteger();
        EngineOptions options = Models.options();
        Engine engine = Engine.open(Models.runner(options, gate.atStep(0)), Optional.empty(), options, clock)
                .onClose(freed::incrementAndGet);
        TokenStream stream = engine.submit(Models.request(50, 1));
        gate.reached.await();
        closing.set(true);
        assertThatThrownBy(engine::close)
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("has not stopped within 150 s")
                .hasMessageContaining("roseinfer-engine is in io.roseinfer.engine.EngineTest$Gate.awaitQuietly");
        assertThatThrownBy(() -> engine.close(Duration.ofMillis(1))).isInstanceOf(EngineStopped.class);
        assertThat(freed).hasValue(0);
        closing.set(false);
        gate.open.countDown();
        engine.close();
        assertThat(freed).hasValue(1);
        assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.CANCELLED);
    }

    @Test
    void idle_engine_parks_its_thread_and_serves_later_requests() {
        AtomicReference<Thread> worker = new AtomicReference<>(Thread.currentThread());
        SimOptions seen = SimOptions.defaults().withOnStep(step -> worker.set(Thread.currentThread()));
        try (Engine engine = Models.engine(Models.options(), seen)) {
            for (int i = 0; i < 3; i++) {
                assertThat(engine.generate(Models.request(5, i)).ids()).hasSize(5);
                while (Objects.requireNonNull(worker.get()).getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    @Test
    void failed_device_ends_every_stream_with_its_failure_and_later_requests_are_rejected() {
        SimOptions dying = SimOptions.defaults().withOnStep(step -> {
            if (step == 2) {
                throw new DeviceFailure("device lost", false);
            }
        });
        try (Engine engine = Models.engine(Models.options(), dying)) {
            TokenStream stream = engine.submit(Models.request(50, 1));
            assertThatThrownBy(stream::completion)
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining("device lost");
            assertThatThrownBy(() -> {
                        while (true) {
                            engine.submit(Models.request(1, 1)).close();
                        }
                    })
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining("device lost");
        }
    }

    @Test
    void bug_in_a_step_ends_every_stream_with_its_message() {
        CountDownLatch submitted = new CountDownLatch(1);
        SimOptions broken = SimOptions.defaults().withOnStep(step -> {
            if (step == 2) {
                Gate.awaitQuietly(submitted);
                throw new IllegalStateException("odd indeed");
            }
        });
        try (Engine engine = Models.engine(Models.options(), broken)) {
            List<TokenStream> streams = IntStream.range(0, 5)
                    .mapToObj(i -> engine.submit(Models.request(50, i)))
                    .toList();
            submitted.countDown();
            assertThat(streams)
                    .allSatisfy(stream -> assertThatThrownBy(stream::completion)
                            .isInstanceOf(EngineStopped.class)
                            .hasMessageContaining("odd indeed"));
        }
    }

    @Test
    void request_that_can_never_be_served_is_rejected_on_submission() {
        EngineOptions small = Models.options().withKvBlocks(4);
        try (Engine engine = Models.engine(small, SimOptions.defaults())) {
            assertThatThrownBy(() -> engine.submit(
                            Models.request(1, IntStream.range(0, 64).toArray())))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("64 tokens")
                    .hasMessageContaining("context");
            assertThatThrownBy(() -> engine.submit(Models.request(30, 1)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("kvBlocks");
            assertThatThrownBy(() -> engine.submit(Models.request(1, Models.VOCABULARY)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("id 1000");
            assertThatThrownBy(() -> engine.submit(Models.request(1, -1))).isInstanceOf(BadInput.class);
            assertThatThrownBy(() -> engine.submit(GenerationRequest.of("text")))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("no tokenizer")
                    .hasMessageContaining("copy its tokenizer.json and tokenizer_config.json next to its weights");
            assertThat(engine.generate(Models.request(15, 1)).ids()).hasSize(15);
            assertThat(engine.stats().blocksInUse()).isZero();
        }
    }

    @Test
    void runner_serves_one_engine_after_another() {
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder().maxBatchSize(2).build());
        var runner = Models.runner(options, SimOptions.defaults().withMaxInFlight(2));
        int[] first;
        try (Engine engine = Engine.open(runner, Optional.empty(), options, Models.ticking())) {
            first = engine.generate(Models.request(10, 5)).ids();
            engine.submit(Models.request(50, 6));
        }
        try (Engine engine = Engine.open(runner, Optional.empty(), options, Models.ticking())) {
            assertThat(engine.generate(Models.request(10, 5)).ids()).isEqualTo(first);
        }
    }

    @Test
    void runner_loaded_with_smaller_limits_is_rejected() {
        EngineOptions small = Models.options();
        var runner = Models.runner(small, SimOptions.defaults());
        EngineOptions large =
                small.withScheduler(SchedulerOptions.builder().maxBatchSize(500).build());
        assertThatThrownBy(() -> Engine.open(runner, Optional.empty(), large, Models.ticking()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("EngineLimits.runnerLimits");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void request_without_a_seed_depends_on_the_seed_of_the_engine(int engineSeed) {
        EngineOptions options = Models.options().withSeed(engineSeed);
        GenerationRequest random = Models.request(10, 3).withSampling(SamplingParams.random());
        int[] first;
        try (Engine engine = Models.engine(options, SimOptions.defaults())) {
            first = engine.generate(random).ids();
            assertThat(engine.generate(random).ids()).isNotEqualTo(first);
        }
        try (Engine engine = Models.engine(options, SimOptions.defaults())) {
            assertThat(engine.generate(random).ids()).isEqualTo(first);
        }
    }
}
