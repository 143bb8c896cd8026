package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.engine.GeneratedToken.TopToken;
import io.roseinfer.sampling.SamplingParams;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of a buffer between two threads, without an engine. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TokenBufferTest {
    private static final int ROUNDS = 100_000;
    private static final int MAX_TOKENS = 8;
    private static final long SEED = 2;

    private final AtomicReference<@Nullable TokenBuffer> slot = new AtomicReference<>();

    /** Writes like the engine: the last token is delivered with the outcome. */
    private static void write(TokenBuffer buffer, int tokens, int interval, StepOutputs outputs) {
        for (int i = 0; i < tokens; i++) {
            buffer.write(i, i, i, outputs, 0);
            if (i < tokens - 1) {
                buffer.publish(interval);
            }
        }
        buffer.finish(RequestOutcome.LENGTH, tokens);
        buffer.end();
    }

    private void writeRounds() {
        Dice dice = new Dice(SEED, "tokens");
        StepOutputs outputs = new StepOutputs(1);
        for (int round = 0; round < ROUNDS; round++) {
            TokenBuffer buffer = new TokenBuffer(MAX_TOKENS, SamplingParams.greedy(), false);
            slot.set(buffer);
            write(buffer, dice.between(2, MAX_TOKENS), dice.between(1, 3), outputs);
            while (slot.get() != null) {
                Thread.onSpinWait();
            }
        }
    }

    /** Reads tokens immediately; returns whether only the last one was marked as the last. */
    private static boolean readsOneLast(TokenBuffer buffer) {
        int index = 0;
        int lasts = 0;
        boolean last = false;
        while (buffer.isPublished(index) || !buffer.isEnded() || buffer.isPublished(index)) {
            if (buffer.isPublished(index)) {
                last = buffer.isLast(index++);
                lasts += last ? 1 : 0;
            }
        }
        return last && lasts == 1;
    }

    @Test
    void only_the_last_token_looks_last_to_a_concurrent_reader() {
        CompletableFuture<Void> writer = CompletableFuture.runAsync(this::writeRounds);
        int wrong = 0;
        for (int round = 0; round < ROUNDS; round++) {
            TokenBuffer buffer = slot.get();
            while (buffer == null && !writer.isDone()) {
                Thread.onSpinWait();
                buffer = slot.get();
            }
            wrong += buffer == null || !readsOneLast(buffer) ? 1 : 0;
            slot.set(null);
        }
        writer.join();
        assertThat(wrong).as("rounds of %d, seed %d", ROUNDS, SEED).isZero();
    }

    @Test
    void buffer_allocates_for_its_tokens_not_for_its_capacity() {
        ThreadMXBean allocations = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        TokenBuffer warm = new TokenBuffer(1, SamplingParams.greedy(), true);
        long before = allocations.getCurrentThreadAllocatedBytes();
        TokenBuffer buffer = new TokenBuffer(10_000_000, SamplingParams.greedy(), true);
        assertThat(allocations.getCurrentThreadAllocatedBytes() - before).isBetween(1L, 40_000L);
        assertThat(warm.delivered() + buffer.delivered()).isZero();
    }

    @Test
    void tokens_keep_their_steps_and_log_probabilities_when_the_buffer_grows() {
        int tokens = TokenBuffer.INITIAL_CAPACITY + 2;
        StepOutputs outputs = new StepOutputs(2);
        for (int sample = 0; sample < 2; sample++) {
            outputs.setLogprob(sample, -sample);
            outputs.setTop(sample, 0, 10 + sample, -sample);
            outputs.setTop(sample, 1, 20 + sample, -2 - sample);
        }
        TokenBuffer buffer = new TokenBuffer(tokens, SamplingParams.greedy().withLogprobs(2), false);
        for (int i = 0; i < tokens; i++) {
            buffer.write(i, i, 100 + 3L * i, outputs, i % 2);
        }
        buffer.finish(RequestOutcome.LENGTH, tokens);
        assertThat(buffer.steps())
                .isEqualTo(
                        IntStream.range(0, tokens).mapToLong(i -> 100 + 3L * i).toArray());
        for (int i = 0; i < tokens; i++) {
            assertThat(buffer.logprob(i)).isEqualTo(-(i % 2));
            assertThat(buffer.top(i))
                    .containsExactly(new TopToken(10 + i % 2, -(i % 2)), new TopToken(20 + i % 2, -2 - i % 2));
        }
    }

    @Test
    void outcome_is_visible_only_after_the_end() {
        TokenBuffer buffer = new TokenBuffer(1, SamplingParams.greedy(), false);
        buffer.finish(RequestOutcome.CANCELLED, 1);
        assertThat(buffer.outcome()).isEmpty();
        buffer.end();
        assertThat(buffer.outcome()).contains(RequestOutcome.CANCELLED);
    }

    @Test
    void action_set_after_an_end_without_tokens_runs_immediately() {
        TokenBuffer buffer = new TokenBuffer(1, SamplingParams.greedy(), false);
        buffer.finish(RequestOutcome.CANCELLED, 1);
        buffer.end();
        AtomicInteger runs = new AtomicInteger();
        buffer.onDelivery(runs::incrementAndGet);
        assertThat(runs).hasValue(1);
    }

    @Test
    void reader_that_waits_is_woken_by_each_delivery() throws InterruptedException {
        TokenBuffer buffer = new TokenBuffer(2, SamplingParams.greedy(), false);
        Thread reader = Thread.currentThread();
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            while (reader.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            buffer.write(7, 1, 1, new StepOutputs(1), 0);
            buffer.publish(1);
        });
        assertThat(buffer.await(0)).isTrue();
        writer.join();
    }

    @Test
    void wait_for_a_token_ends_at_its_limit_and_without_one_does_not_wait() throws InterruptedException {
        TokenBuffer buffer = new TokenBuffer(1, SamplingParams.greedy(), false);
        AtomicLong clock = new AtomicLong();
        assertThat(buffer.await(0, 5, clock::incrementAndGet)).isFalse();
        assertThat(clock.get()).isGreaterThan(5);
        List<Boolean> polled = new ArrayList<>();
        DeliveryThread.run(() -> {
            try {
                polled.add(buffer.await(0, 0, clock::get));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(polled).containsExactly(false);
    }

    @Test
    void tokens_read_equal_tokens_written_while_the_buffer_grows() {
        int tokens = 20 * TokenBuffer.INITIAL_CAPACITY + 7;
        SamplingParams params = SamplingParams.greedy().withLogprobs(2);
        StepOutputs outputs = new StepOutputs(1);
        TokenBuffer buffer = new TokenBuffer(tokens, params, true);
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < tokens; i++) {
                buffer.writeText("t" + i, "r" + i);
                buffer.write(i, 3L * i, 2L * i, outputs, 0);
                buffer.publish(1);
            }
            buffer.finish(RequestOutcome.LENGTH, 1);
            buffer.end();
        });
        int index = 0;
        int wrong = 0;
        while (index < tokens && !writer.isCompletedExceptionally()) {
            if (buffer.isPublished(index)) {
                boolean right = buffer.id(index) == index
                        && buffer.text(index).equals("t" + index)
                        && buffer.top(index).size() == 2;
                wrong += right ? 0 : 1;
                index++;
            }
        }
        writer.join();
        assertThat(buffer.rest()).isEqualTo("r" + (tokens - 1));
        assertThat(wrong).isZero();
        assertThat(buffer.stamps()).hasSize(tokens).endsWith(3L * (tokens - 1));
        assertThat(buffer.steps()).hasSize(tokens).endsWith(2L * (tokens - 1));
    }

    /** Reads stamps until the end of a buffer; returns the number of reads with a stamp that was not yet written. */
    private static int readsUnwritten(TokenBuffer buffer) {
        int unwritten = 0;
        while (!buffer.isEnded()) {
            long[] stamps = buffer.stamps();
            unwritten += stamps.length > 0 && stamps[stamps.length - 1] == 0 ? 1 : 0;
        }
        return unwritten;
    }

    @Test
    void concurrent_reader_sees_the_stamps_of_all_delivered_tokens_when_the_buffer_grows() {
        int tokens = 64 * TokenBuffer.INITIAL_CAPACITY;
        StepOutputs outputs = new StepOutputs(1);
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            for (int round = 0; round < ROUNDS / 10; round++) {
                TokenBuffer buffer = new TokenBuffer(tokens, SamplingParams.greedy(), false);
                slot.set(buffer);
                for (int i = 0; i < tokens; i++) {
                    buffer.write(i, 1, 1, outputs, 0);
                    buffer.publish(1);
                }
                buffer.finish(RequestOutcome.LENGTH, 1);
                buffer.end();
            }
        });
        int unwritten = 0;
        while (!writer.isDone()) {
            TokenBuffer buffer = slot.get();
            unwritten += buffer == null ? 0 : readsUnwritten(buffer);
        }
        writer.join();
        assertThat(unwritten).isZero();
    }
}
