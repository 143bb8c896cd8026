package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of how requests and engines end, on real threads. Nothing sleeps; the timeout detects hangs. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EngineEndingsTest {
    /** Keeps a tokenizer busy for more than half a second, and is rejected in the end. */
    private static final GenerationRequest ENDLESS = GenerationRequest.of("word ".repeat(3_000_000));

    private static final GenerationRequest SHORT =
            GenerationRequest.of("Once upon a time").withMaxNewTokens(2);

    private static Engine tokenizing(int maxInflightRequests) {
        return Roseinfer.open(Settings.of("builtin:tiny")
                .withDevice(Settings.Device.SIM)
                .withEngine(
                        EngineOptions.defaults().withTokenizeWorkers(1).withMaxInflightRequests(maxInflightRequests)));
    }

    /** Opens an engine whose steps take at least a millisecond, with one request at a time. */
    private static Engine slow() {
        EngineOptions one = Models.options()
                .withScheduler(SchedulerOptions.builder().maxBatchSize(1).build());
        SimOptions slow = SimOptions.defaults().withOnStep(step -> LockSupport.parkNanos(1_000_000));
        return Engine.open(Models.runner(one, slow), Optional.empty(), one, Clock.system());
    }

    @Test
    void closing_a_stream_that_waits_for_a_tokenizer_ends_it_immediately_and_frees_its_place() {
        try (Engine engine = tokenizing(3)) {
            TokenStream first = engine.submit(ENDLESS);
            TokenStream second = engine.submit(ENDLESS);
            TokenStream waiting = engine.submit(SHORT);
            assertThatThrownBy(() -> engine.submit(SHORT)).isInstanceOf(Overloaded.class);
            waiting.close();
            assertThat(waiting.finishReason()).contains(FinishReason.CANCELLED);
            TokenStream next = engine.submit(SHORT);
            second.close();
            first.close();
            assertThat(first.finishReason()).as("of the one being tokenized").contains(FinishReason.CANCELLED);
            assertThat(next.completion().ids()).hasSize(2);
            assertThat(waiting.completion().tokens()).isEmpty();
            assertThat(engine.inflight()).isZero();
        }
    }

    @Test
    void action_that_closes_the_engine_on_the_thread_that_closes_its_stream_is_rejected() {
        try (Engine engine = tokenizing(4)) {
            TokenStream busy = engine.submit(ENDLESS);
            TokenStream waiting = engine.submit(SHORT);
            AtomicReference<Throwable> refused = new AtomicReference<>(new AssertionError("never run"));
            waiting.onDelivery(() -> refused.set(catchThrowable(engine::close)));
            waiting.close();
            assertThat(refused.get()).isInstanceOf(IllegalStateException.class);
            busy.close();
        }
    }

    @Test
    void close_ends_the_request_being_tokenized() {
        Engine engine = tokenizing(4);
        List<TokenStream> streams = List.of(engine.submit(ENDLESS), engine.submit(ENDLESS), engine.submit(SHORT));
        engine.close();
        assertThat(streams)
                .allSatisfy(stream -> assertThat(stream.finishReason()).contains(FinishReason.CANCELLED));
        assertThat(engine.inflight()).isZero();
    }

    @Test
    void close_waits_for_a_caller_ending_a_request() throws Exception {
        CountDownLatch telling = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        AtomicBoolean closed = new AtomicBoolean();
        AtomicBoolean wasClosed = new AtomicBoolean();
        RequestObserver slow = event -> {
            if (event instanceof RequestEvent.Ended) {
                telling.countDown();
                awaitUninterruptibly(mayGoOn);
                wasClosed.compareAndSet(false, closed.get());
            }
        };
        EngineOptions options = Models.options().withTokenizeWorkers(1);
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            Engine engine = Engine.open(
                    Models.runner(options, SimOptions.defaults()),
                    files.tokenizer(),
                    options,
                    Clock.system(),
                    Observers.ofRequests(slow));
            TokenStream stream = engine.submit(ENDLESS);
            Thread leaving = Thread.ofPlatform().start(stream::close);
            telling.await();
            Thread closing = Thread.ofPlatform().start(() -> {
                engine.close();
                closed.set(true);
            });
            while (closing.isAlive() && !waitsForTellers(closing)) {
                Thread.onSpinWait();
            }
            mayGoOn.countDown();
            leaving.join();
            closing.join();
        }
        assertThat(wasClosed)
                .as("whether the engine was closed before its observer was notified")
                .isFalse();
    }

    private static boolean waitsForTellers(Thread thread) {
        StackTraceElement[] frames = thread.getStackTrace();
        return IntStream.range(1, frames.length)
                .anyMatch(i -> frames[i].getMethodName().equals("awaitOutcomes")
                        && frames[i].getClassName().endsWith("InFlight")
                        && frames[i - 1].getMethodName().equals("parkNanos"));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void failed_engine_ends_requests_being_tokenized_with_its_failure() {
        SimOptions dead = SimOptions.defaults().withOnStep(step -> {
            throw new DeviceFailure("device lost", false);
        });
        EngineOptions options = Models.options().withTokenizeWorkers(1);
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                Engine engine =
                        Engine.open(Models.runner(options, dead), files.tokenizer(), options, Models.ticking())) {
            List<TokenStream> streams = List.of(engine.submit(ENDLESS), engine.submit(ENDLESS));
            assertThatThrownBy(() -> engine.generate(Models.request(1, 1))).hasMessageContaining("device lost");
            assertThat(streams)
                    .allSatisfy(stream -> assertThatThrownBy(stream::completion)
                            .isInstanceOf(EngineStopped.class)
                            .hasMessageContaining("device lost"));
            assertThatThrownBy(() -> engine.submit(SHORT))
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining("device lost");
            assertThat(engine.inflight()).isZero();
        }
    }

    static Stream<Throwable> failures() {
        return Stream.of(
                new OutOfMemoryError("Java heap space"),
                new StackOverflowError(),
                new AssertionError("planted"),
                new IllegalStateException("planted"),
                new IOException("planted"));
    }

    /** Throws a checked exception without declaring it, as other JVM languages can. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void raise(Throwable thrown) throws E {
        throw (E) thrown;
    }

    @ParameterizedTest
    @MethodSource("failures")
    void engine_fails_with_any_exception_of_its_thread(Throwable thrown) {
        SimOptions failing =
                SimOptions.defaults().withOnStep(step -> EngineEndingsTest.<RuntimeException>raise(thrown));
        try (Engine engine = Models.engine(Models.options(), failing)) {
            assertThatThrownBy(() -> engine.generate(Models.request(3, 1)))
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageStartingWith("the engine stopped: ")
                    .hasMessageNotContaining("null")
                    .hasCause(thrown);
            assertThat(engine.failure(0)).get().isInstanceOf(EngineStopped.class);
            assertThatThrownBy(() -> engine.submit(Models.request(3, 1))).isInstanceOf(EngineStopped.class);
            assertThat(engine.inflight()).isZero();
        }
    }

    @Test
    void engine_out_of_memory_names_the_remedy() {
        SimOptions full = SimOptions.defaults().withOnStep(step -> {
            throw new OutOfMemoryError("Java heap space");
        });
        try (Engine engine = Models.engine(Models.options(), full)) {
            assertThatThrownBy(() -> engine.generate(Models.request(3, 1)))
                    .hasMessage("the engine stopped: it ran out of memory (Java heap space);"
                            + " give the JVM more (-Xmx), or allow fewer requests in flight");
        }
    }

    @ParameterizedTest
    @MethodSource("failures")
    void exception_of_an_action_ends_no_request(Throwable thrown) {
        CountDownLatch registered = new CountDownLatch(1);
        SimOptions gated = SimOptions.defaults().withOnStep(step -> awaitQuietly(registered));
        try (Engine engine = Models.engine(Models.options(), gated)) {
            TokenStream watched = engine.submit(Models.request(40, 1));
            TokenStream other = engine.submit(Models.request(40, 2));
            watched.onDelivery(() -> EngineEndingsTest.<RuntimeException>raise(thrown));
            registered.countDown();
            assertThat(watched.completion().finishReason()).isEqualTo(FinishReason.LENGTH);
            assertThat(other.completion().finishReason()).isEqualTo(FinishReason.LENGTH);
            watched.onDelivery(() -> EngineEndingsTest.<RuntimeException>raise(thrown));
            assertThat(engine.failure(0)).isEmpty();
        }
    }

    @Test
    void unlimited_grace_drains_and_closes() {
        AtomicInteger closed = new AtomicInteger();
        Engine engine = Models.engine(Models.options(), SimOptions.defaults()).onClose(closed::incrementAndGet);
        TokenStream stream = engine.submit(Models.request(5, 1));
        assertThat(engine.close(ChronoUnit.FOREVER.getDuration())).isTrue();
        assertThat(stream.completion().ids()).hasSize(5);
        assertThat(closed).hasValue(1);
    }

    @Test
    void interrupts_do_not_extend_the_grace_period() throws Exception {
        Engine engine = slow();
        List<TokenStream> streams = IntStream.range(0, 50)
                .mapToObj(i -> engine.submit(Models.request(60, i)))
                .toList();
        CompletableFuture<Boolean> drained = new CompletableFuture<>();
        Thread closer = Thread.ofPlatform().start(() -> drained.complete(engine.close(Duration.ofMillis(200))));
        while (!drained.isDone()) {
            closer.interrupt();
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(drained.join()).isFalse();
        assertThat(streams.getLast().finishReason()).contains(FinishReason.CANCELLED);
    }

    @Test
    void draining_engine_parks_while_it_waits_for_a_tokenizer() {
        AllocationMeter threads = new AllocationMeter();
        try (Engine engine = tokenizing(4)) {
            long worker = threads.threads("roseinfer-engine")[0];
            List<TokenStream> streams = List.of(engine.submit(ENDLESS), engine.submit(ENDLESS));
            CompletableFuture<Boolean> drained =
                    CompletableFuture.supplyAsync(() -> engine.close(Duration.ofMinutes(1)));
            while (!isRefusing(engine)) {
                Thread.onSpinWait();
            }
            Thread thread = thread(worker);
            while (thread.getState() == Thread.State.RUNNABLE) {
                LockSupport.parkNanos(100_000);
            }
            assertThat(thread.getState()).isEqualTo(Thread.State.WAITING);
            streams.forEach(TokenStream::close);
            assertThat(drained.join()).isTrue();
        }
    }

    private static Thread thread(long id) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.threadId() == id)
                .findFirst()
                .orElseThrow();
    }

    private static boolean isRefusing(Engine engine) {
        try {
            engine.submit(SHORT).close();
            return false;
        } catch (EngineStopped closing) {
            return true;
        }
    }

    @Test
    void closing_a_stream_repeatedly_retains_no_memory() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        SimOptions standing = SimOptions.defaults().withOnStep(step -> {
            reached.countDown();
            awaitQuietly(open);
        });
        try (Engine engine = Models.engine(Models.options(), standing)) {
            TokenStream stream = engine.submit(Models.request(5, 1));
            reached.await();
            stream.close();
            long self = Thread.currentThread().threadId();
            long before = AllocationMeter.allocatedBytes(self);
            for (int i = 0; i < 200_000; i++) {
                stream.close();
            }
            long spent = AllocationMeter.allocatedBytes(self) - before;
            open.countDown();
            assertThat(spent).as("bytes").isLessThan(200_000);
            assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.CANCELLED);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void only_one_of_two_submissions_gets_the_last_place() throws Exception {
        int rounds = 20_000;
        EngineOptions one = Models.options().withMaxInflightRequests(1);
        SimRunner runner = Models.runner(one, SimOptions.defaults());
        SchedulerManager manager = Models.manager(runner, one);
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger othersOutcome = new AtomicInteger();
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
            for (int round = 1; round <= rounds; round++) {
                while (begun.get() < round) {
                    Thread.onSpinWait();
                }
                othersOutcome.set(tryReserve(manager) ? round : -round);
            }
        });
        int bothRefused = 0;
        manager.reserve();
        for (int round = 1; round <= rounds; round++) {
            begun.set(round);
            manager.inFlight().release();
            boolean got = tryReserve(manager);
            while (Math.abs(othersOutcome.get()) < round) {
                Thread.onSpinWait();
            }
            boolean otherGot = othersOutcome.get() == round;
            bothRefused += !got && !otherGot ? 1 : 0;
            if (!got && !otherGot) {
                manager.reserve();
            }
        }
        other.join();
        assertThat(bothRefused).as("rounds of %d", rounds).isZero();
    }

    @Test
    void idle_engine_that_holds_blocks_fails_with_a_message() {
        EngineOptions options = Models.options();
        AtomicReference<Thread> worker = new AtomicReference<>(Thread.currentThread());
        SimRunner runner =
                Models.runner(options, SimOptions.defaults().withOnStep(step -> worker.set(Thread.currentThread())));
        SchedulerManager manager = Models.manager(runner, options);
        manager.start();
        LiveRequest first = served(manager, 0);
        while (Objects.requireNonNull(worker.get()).getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        assertThat(first.sequence().orElseThrow().table().grow(1)).isTrue();
        served(manager, 1);
        assertThatThrownBy(() -> {
                    while (true) {
                        served(manager, 2);
                    }
                })
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("1 of 200 KV blocks are held though nothing waits or runs");
        manager.close();
    }

    /** Serves a request; fails if its stream does. */
    private static LiveRequest served(SchedulerManager manager, long id) {
        GenerationRequest request = Models.request(2, 7, 8);
        manager.reserve();
        LiveRequest live = new LiveRequest(id, request, 0, Models.CONTEXT, Optional.empty());
        int[] prompt = ((Prompt.Tokens) request.prompt()).own();
        live.tokenized(prompt.length, 0);
        manager.submit(live, prompt);
        Completion unused = new RequestStream(live, Optional.empty(), Clock.system(), () -> {}).completion();
        return live;
    }

    private static boolean tryReserve(SchedulerManager manager) {
        try {
            manager.reserve();
            return true;
        } catch (Overloaded refused) {
            return false;
        }
    }

    @Test
    void closed_engine_reports_no_running_requests() {
        Engine engine = slow();
        TokenStream running = engine.submit(Models.request(60, 1));
        engine.submit(Models.request(60, 2));
        assertThat(running.hasNext()).isTrue();
        engine.close();
        EngineStats stats = engine.stats();
        assertThat(List.of(stats.active(), stats.waiting(), stats.blocksInUse()))
                .containsOnly(0);
    }
}
