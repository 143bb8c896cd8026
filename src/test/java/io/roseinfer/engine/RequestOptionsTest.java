package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of deadlines, tags, limited waiting, and request counts. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RequestOptionsTest {
    private final CountDownLatch mayStep = new CountDownLatch(1);
    private final AtomicLong nanos = new AtomicLong();

    private SimRunner gatedRunner(EngineOptions options) {
        return Models.runner(options, SimOptions.defaults().withOnStep(step -> {
            try {
                mayStep.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }

    private Engine open(SimRunner runner, EngineOptions options) {
        return Engine.open(runner, Optional.empty(), options, nanos::get);
    }

    @Test
    void request_past_its_deadline_ends_running_or_waiting_and_others_continue() {
        EngineOptions options = Models.options();
        try (SimRunner runner = gatedRunner(options);
                Engine engine = open(runner, options)) {
            TokenStream free = engine.submit(Models.request(3, 1, 2).withTag("free"));
            TokenStream due =
                    engine.submit(Models.request(3, 3, 4).withDeadline(50).withTag("due"));
            TokenStream later = engine.submit(Models.request(3, 5, 6).withTimeout(Duration.ofNanos(100)));
            nanos.set(50);
            mayStep.countDown();
            Completion ended = due.completion();
            assertThat(ended.finishReason()).isEqualTo(FinishReason.DEADLINE);
            assertThat(ended.tokens()).hasSizeLessThan(3);
            assertThat(ended.tag()).contains("due");
            assertThat(free.completion().finishReason()).isEqualTo(FinishReason.LENGTH);
            assertThat(free.completion().tag()).contains("free");
            assertThat(later.completion().finishReason()).isEqualTo(FinishReason.LENGTH);
            assertThat(engine.generate(Models.request(3, 1).withDeadline(50)).ids())
                    .isEmpty();
        }
    }

    @Test
    void poll_times_out_then_returns_every_token_then_the_end() {
        EngineOptions options = Models.options();
        try (SimRunner runner = gatedRunner(options);
                Engine engine = open(runner, options)) {
            TokenStream stream = engine.submit(Models.request(3, 1, 2));
            assertThat(stream.poll(Duration.ZERO)).isEmpty();
            assertThat(stream.isExhausted()).isFalse();
            mayStep.countDown();
            List<Integer> ids = new ArrayList<>();
            while (!stream.isExhausted()) {
                stream.poll(Duration.ofDays(300 * 365L)).ifPresent(token -> ids.add(token.id()));
            }
            assertThat(stream.poll(Duration.ofDays(1))).isEmpty();
            assertThat(ids)
                    .hasSize(3)
                    .containsExactly(engine.generate(Models.request(3, 1, 2)).tokens().stream()
                            .map(GeneratedToken::id)
                            .toArray(Integer[]::new));
        }
    }

    @Test
    void accepted_rejected_and_ended_requests_are_counted() {
        EngineOptions options = Models.options();
        mayStep.countDown();
        try (SimRunner runner = gatedRunner(options);
                Engine engine = open(runner, options)) {
            Completion unused = engine.generate(Models.request(3, 1, 2));
            Completion late = engine.generate(Models.request(3, 1, 2, 3).withDeadline(-1));
            assertThat(late.finishReason()).isEqualTo(FinishReason.DEADLINE);
            assertThatThrownBy(() -> engine.submit(Models.request(3, -1))).isInstanceOf(BadInput.class);
            RequestCounts counts = engine.stats().requests();
            assertThat(counts.accepted()).isEqualTo(2);
            assertThat(counts.rejected()).isEqualTo(1);
            assertThat(counts.promptTokens()).isEqualTo(5);
            while (!Long.valueOf(1).equals(engine.stats().requests().ended().get(FinishReason.DEADLINE))) {
                Thread.onSpinWait();
            }
            counts = engine.stats().requests();
            assertThat(counts.generatedTokens()).isEqualTo(3);
            assertThat(counts.ended())
                    .containsEntry(FinishReason.LENGTH, 1L)
                    .containsEntry(FinishReason.DEADLINE, 1L)
                    .containsEntry(FinishReason.STOP, 0L);
        }
    }

    @Test
    void nonpositive_timeout_is_rejected() {
        assertThatThrownBy(() -> Models.request(1, 1).withTimeout(Duration.ZERO))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the timeout is PT0S; it must be positive");
    }

    @Test
    void null_stop_string_is_rejected_by_its_index() {
        String[] stop = {"end", ""};
        Arrays.fill(stop, 1, 2, null);
        assertThatThrownBy(() -> Models.request(1, 1).withStop(stop))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("stop[1]");
    }

    @Test
    void deadlines_expire_in_order_after_removals() {
        long seed = 7;
        Random random = new Random(seed);
        Deadlines deadlines = new Deadlines();
        List<LiveRequest> there = new ArrayList<>();
        for (int event = 0; event < 20_000; event++) {
            if (there.isEmpty() || random.nextInt(5) < 3) {
                GenerationRequest request = Models.request(1, 1).withDeadline(random.nextInt(1000));
                LiveRequest added = new LiveRequest(event, request, 0, Models.CONTEXT, Optional.empty());
                deadlines.add(added);
                there.add(added);
            } else if (random.nextBoolean()) {
                deadlines.remove(there.remove(random.nextInt(there.size())));
            } else {
                LiveRequest first = Objects.requireNonNull(deadlines.first());
                deadlines.remove(first);
                assertThat(there.remove(first))
                        .as("event %d, seed %d", event, seed)
                        .isTrue();
            }
            LiveRequest first = deadlines.first();
            assertThat(first == null ? -1 : first.expiryNanos())
                    .as("event %d, seed %d", event, seed)
                    .isEqualTo(there.stream()
                            .mapToLong(LiveRequest::deadlineNanos)
                            .min()
                            .orElse(-1));
        }
    }
}
