package io.roseinfer.bench.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.bench.Sim;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.Prompt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of loads on an engine in this process. */
@Tag("process")
@Timeout(60)
class EngineTargetTest {
    private static final Duration FOREVER = Duration.ofDays(1);
    private static final Executor READERS = task -> {
        Thread unused = Thread.startVirtualThread(task);
    };

    private static LoadResult run(Executor readers, Clock clock, Duration silence, Runnable afterEach) {
        try (Engine engine = Sim.engine(Sim.options(true), step -> {}, clock);
                EngineTarget target = new EngineTarget(engine, Sim.template(), false, clock, readers)) {
            return new LoadRun(target, LoadRun.UNBOUNDED, silence, clock, deadline -> {})
                    .run(Sim.load(3, 3, 5), afterEach);
        }
    }

    /** After the other two requests have ended, the clock advances by 3 seconds per reading. */
    @Test
    void stalled_reader_ends_the_run_with_a_typed_failure() {
        AtomicInteger reader = new AtomicInteger();
        Executor losing = task -> {
            if (reader.getAndIncrement() != 1) {
                READERS.execute(task);
            }
        };
        AtomicInteger ended = new AtomicInteger();
        AtomicLong nanos = new AtomicLong();
        Clock clock = () -> nanos.addAndGet(ended.get() < 2 ? 1 : 3_000_000_000L);
        assertThatThrownBy(() -> run(losing, clock, FOREVER, ended::incrementAndGet))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("no longer run");
    }

    /** The clock advances by five seconds per reading of the thread that waits, and the first step lasts two minutes of it. */
    @Test
    void step_that_outlasts_the_limit_of_a_warm_up_is_awaited() {
        AtomicLong nanos = new AtomicLong();
        Thread waiting = Thread.currentThread();
        Clock clock = () -> nanos.addAndGet(Thread.currentThread().equals(waiting) ? 5_000_000_000L : 0);
        LongConsumer longStep = step -> {
            while (nanos.get() < 120_000_000_000L) {
                Thread.onSpinWait();
            }
        };
        try (Engine engine = Sim.engine(Sim.options(true), longStep, clock);
                EngineTarget target = new EngineTarget(engine, Sim.template(), true, clock, READERS)) {
            LoadResult result =
                    LoadRun.warmUp(target, FOREVER, clock, 30_000_000_000L).run(Sim.load(1, 3, 5), () -> {});
            assertThat(nanos.get()).isGreaterThanOrEqualTo(120_000_000_000L);
            assertThat(result.calls()).hasSize(1);
        }
    }

    @Test
    void reader_that_dies_in_a_callback_does_not_block_the_run() {
        AtomicInteger ended = new AtomicInteger();
        LoadResult result = run(READERS, Clock.system(), FOREVER, () -> {
            if (ended.incrementAndGet() == 2) {
                throw new IllegalStateException("the second reader dies");
            }
        });
        assertThat(result.completed()).hasSize(3);
    }

    @Test
    void failed_reader_start_ends_the_run_with_its_reason() {
        AtomicInteger reader = new AtomicInteger();
        Executor full = task -> {
            if (reader.getAndIncrement() == 1) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            READERS.execute(task);
        };
        assertThatThrownBy(() -> run(full, Clock.system(), FOREVER, () -> {})).isInstanceOf(OutOfMemoryError.class);
    }

    /** Returns after an interrupted thread waits again. */
    private static void awaitGivenUp(Thread sending, AtomicBoolean interrupted) {
        while (!interrupted.get() || sending.isInterrupted() || sending.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    /** The end of the first request interrupts the sender after it has sent both; the engine continues after the second is abandoned. */
    @Test
    void requests_of_an_interrupted_run_are_not_completed() {
        Thread sending = Thread.currentThread();
        AtomicBoolean interrupted = new AtomicBoolean();
        LongConsumer onStep = step -> {
            if (step >= 2) {
                awaitGivenUp(sending, interrupted);
            }
        };
        OfferedLoad both = new OfferedLoad(
                List.of(OfferedRequest.of(0, new Prompt.Tokens(1), 1), OfferedRequest.of(0, new Prompt.Tokens(2), 500)),
                OfferedLoad.Pacing.BURST);
        AtomicInteger sent = new AtomicInteger();
        Executor counting = task -> {
            READERS.execute(task);
            sent.incrementAndGet();
        };
        Clock clock = Clock.system();
        try (Engine engine = Sim.engine(Sim.options(true), onStep, clock);
                EngineTarget target = new EngineTarget(engine, Sim.template(), false, clock, counting)) {
            LoadResult result = new LoadRun(target, LoadRun.UNBOUNDED, FOREVER, clock, deadline -> {}).run(both, () -> {
                while (sent.get() < 2) {
                    Thread.onSpinWait();
                }
                if (!interrupted.get()) {
                    sending.interrupt();
                    interrupted.set(true);
                }
            });
            assertThat(Thread.interrupted()).isTrue();
            assertThat(result.calls()).extracting(CallResult::isComplete).containsExactly(true, false);
            assertThat(result.calls().getLast().error()).contains("interrupted");
        }
    }

    /** The clock advances only in the pacer, which overshoots by 7 ns, so nothing depends on the machine. */
    private static LoadResult paced(OfferedLoad load, List<Long> deadlines) {
        AtomicLong now = new AtomicLong(500);
        Pacer pacer = deadlineNanos -> {
            deadlines.add(deadlineNanos);
            now.set(Math.max(now.get(), deadlineNanos) + 7);
        };
        try (Engine engine = Sim.engine(Sim.options(true), step -> {}, now::get);
                EngineTarget target = new EngineTarget(engine, Sim.template(), true, now::get)) {
            return new LoadRun(target, LoadRun.UNBOUNDED, FOREVER, now::get, pacer).run(load);
        }
    }

    @Test
    void scheduled_requests_keep_their_times_regardless_of_lag() {
        List<Long> deadlines = new ArrayList<>();
        List<OfferedRequest> requests = Sim.load(4, 5, 1).requests();
        LoadResult run = paced(OfferedLoad.every(2, requests, OfferedLoad.Pacing.SCHEDULED), deadlines);
        assertThat(deadlines).containsExactly(2_000_500L, 4_000_500L, 6_000_500L);
        assertThat(run.calls()).extracting(CallResult::lagNanos).containsExactly(0L, 7L, 7L, 7L);
    }

    @Test
    void requests_after_those_sent_wait_for_the_gap_and_drift() {
        List<Long> deadlines = new ArrayList<>();
        List<OfferedRequest> requests = Sim.load(4, 5, 1).requests();
        LoadResult run = paced(OfferedLoad.every(2, requests, OfferedLoad.Pacing.AFTER_SENT), deadlines);
        assertThat(deadlines).containsExactly(2_000_500L, 4_000_507L, 6_000_514L);
        assertThat(run.isScheduled()).isFalse();
    }

    /** Returns two conversations of three turns of four tokens each. */
    private static OfferedLoad conversations(int secondTurn) {
        List<OfferedRequest> requests = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            OfferedRequest third = OfferedRequest.of(0, ids(5), 4);
            OfferedRequest second =
                    OfferedRequest.of(0, ids(secondTurn), 4).withNext(new OfferedRequest.Turn(3_000_000, third));
            requests.add(OfferedRequest.of(i, ids(6), 4).withNext(new OfferedRequest.Turn(2_000_000, second)));
        }
        return new OfferedLoad(requests, OfferedLoad.Pacing.SCHEDULED);
    }

    private static Prompt ids(int length) {
        int[] ids = new int[length];
        Arrays.setAll(ids, i -> i + 1);
        return new Prompt.Tokens(ids);
    }

    private static LoadResult converse(OfferedLoad load, int maxConcurrency) {
        try (Engine engine = Sim.engine(Sim.options(true), step -> {}, Clock.system());
                EngineTarget target = new EngineTarget(engine, Sim.template(), false, Clock.system(), READERS)) {
            return new LoadRun(target, maxConcurrency, FOREVER, Clock.system()).run(load);
        }
    }

    @Test
    void later_turns_contain_the_answers_before_them_and_wait_for_their_think_time() {
        for (int maxConcurrency : new int[] {1, LoadRun.UNBOUNDED}) {
            List<CallResult> calls = converse(conversations(2), maxConcurrency).calls();
            assertThat(calls).hasSize(6).allMatch(CallResult::isComplete);
            for (int i = 0; i < 2; i++) {
                CallResult first = calls.get(i);
                CallResult second = calls.get(2 + i);
                CallResult third = calls.get(4 + i);
                assertThat(second.promptTokens()).isEqualTo(6 + 4 + 2);
                assertThat(third.promptTokens()).isEqualTo(6 + 4 + 2 + 4 + 5);
                assertThat(second.times().dueNanos() - first.times().endNanos()).isEqualTo(2_000_000);
                assertThat(third.times().dueNanos() - second.times().endNanos()).isEqualTo(3_000_000);
                assertThat(third.times().sentNanos())
                        .isGreaterThanOrEqualTo(third.times().dueNanos());
            }
        }
    }

    @Test
    void turns_after_a_failed_one_are_not_sent() {
        LoadResult run = converse(conversations(1 << 16), LoadRun.UNBOUNDED);
        assertThat(run.completed()).hasSize(2);
        assertThat(run.calls()).hasSize(6);
        assertThat(run.calls().getLast().error()).hasValue("the previous turn of its conversation failed");
    }
}
