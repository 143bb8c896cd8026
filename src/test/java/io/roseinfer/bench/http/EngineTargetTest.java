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
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loads against an engine in this process. */
@Timeout(60)
class EngineTargetTest {
    private static final Duration FOREVER = Duration.ofDays(1);
    private static final Endpoint.Ask ASK = new Endpoint.Ask(0, true, false, false, false);
    private static final Executor READERS = task -> {
        Thread unused = Thread.startVirtualThread(task);
    };

    private static OfferedLoad load(int requests, int tokens) {
        return new OfferedLoad(
                IntStream.range(0, requests)
                        .mapToObj(i -> new OfferedRequest(0, new Prompt.Tokens(i + 1, 2, 3), tokens))
                        .toList(),
                false);
    }

    private static LoadResult run(Executor readers, Clock clock, Duration silence, Runnable afterEach) {
        try (Engine engine = Sim.engine(Sim.options(true), step -> {}, clock);
                EngineTarget target = new EngineTarget(engine, ASK, clock, readers)) {
            return new LoadRun(target, LoadRun.UNBOUNDED, silence, clock, deadline -> {}).run(load(3, 5), afterEach);
        }
    }

    /** Once the other two requests have ended, 3 seconds pass between any two looks at the clock. */
    @Test
    void reader_that_never_runs_again_ends_the_run_with_a_typed_failure() {
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
                .hasMessageContaining("do not run any more");
    }

    @Test
    void reader_that_dies_telling_of_an_end_does_not_hold_up_the_run() {
        AtomicInteger ended = new AtomicInteger();
        LoadResult result = run(READERS, Clock.system(), FOREVER, () -> {
            if (ended.incrementAndGet() == 2) {
                throw new IllegalStateException("the second reader dies");
            }
        });
        assertThat(result.completed()).hasSize(3);
    }

    @Test
    void reader_that_cannot_be_started_ends_the_run_with_its_reason() {
        AtomicInteger reader = new AtomicInteger();
        Executor full = task -> {
            if (reader.getAndIncrement() == 1) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            READERS.execute(task);
        };
        assertThatThrownBy(() -> run(full, Clock.system(), FOREVER, () -> {})).isInstanceOf(OutOfMemoryError.class);
    }

    /** Returns once a thread that was interrupted waits again. */
    private static void awaitGivenUp(Thread sending, AtomicBoolean interrupted) {
        while (!interrupted.get() || sending.isInterrupted() || sending.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    /** The end of the first request interrupts the thread that sends; the engine goes on once the second has been given up. */
    @Test
    void requests_that_an_interrupted_run_gives_up_are_not_counted_as_answered() {
        Thread sending = Thread.currentThread();
        AtomicBoolean interrupted = new AtomicBoolean();
        LongConsumer onStep = step -> {
            if (step >= 2) {
                awaitGivenUp(sending, interrupted);
            }
        };
        OfferedLoad both = new OfferedLoad(
                List.of(
                        new OfferedRequest(0, new Prompt.Tokens(1), 1),
                        new OfferedRequest(0, new Prompt.Tokens(2), 500)),
                false);
        Clock clock = Clock.system();
        try (Engine engine = Sim.engine(Sim.options(true), onStep, clock);
                EngineTarget target = new EngineTarget(engine, ASK, clock)) {
            LoadResult result = new LoadRun(target, LoadRun.UNBOUNDED, FOREVER, clock, deadline -> {}).run(both, () -> {
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
}
