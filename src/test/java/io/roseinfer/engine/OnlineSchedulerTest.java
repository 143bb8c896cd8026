package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OnlineSchedulerTest {
    private final SchedulerOptions options =
            SchedulerOptions.builder().maxBatchSize(2).prefillMaxBatchSize(3).build();
    private final OnlineScheduler scheduler =
            new OnlineScheduler(Models.runner(Models.options().withScheduler(options), SimOptions.defaults()), options);

    private long add(int token, int newTokens) {
        return scheduler.addRequest(new int[] {token}, newTokens, SamplingParams.greedy(), 0, true);
    }

    private long enqueue(int token, int newTokens) {
        return scheduler.enqueue(new int[] {token}, newTokens, SamplingParams.greedy(), 0, true);
    }

    @Test
    void request_for_zero_tokens_is_rejected() {
        assertThatThrownBy(() -> enqueue(1, 0)).isInstanceOf(BadInput.class).hasMessageContaining("maxNewTokens is 0");
        assertThat(scheduler.hasUnfinished()).isFalse();
    }

    /** Notes what it sees of each request that it ranks. */
    private record Noting(List<String> seen) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            seen.add("%d of %s at %d: arrived %d, due %d, priority %d, predicts %d, at most %d"
                    .formatted(
                            request.id(),
                            request.tenant(),
                            queue.nowNanos(),
                            request.arrivalNanos(),
                            request.deadlineNanos(),
                            request.priority(),
                            request.predictedNewTokens(),
                            request.remainingNewTokens()));
            return 0;
        }
    }

    @Test
    void policies_see_the_options_of_a_request_and_the_time() {
        Noting policy = new Noting(new ArrayList<>());
        SchedulerOptions noting = SchedulerOptions.builder().admission(policy).build();
        AtomicLong nanos = new AtomicLong(100);
        OnlineScheduler online = new OnlineScheduler(
                Models.runner(Models.options().withScheduler(noting), SimOptions.defaults()),
                noting,
                nanos::get,
                1,
                Observers.NONE);
        RequestOptions stated = RequestOptions.NONE
                .withTenant("a")
                .withPriority(2)
                .withPredictedNewTokens(3)
                .withTimeout(Duration.ofNanos(50));
        long first = online.enqueue(new int[] {1}, 9, SamplingParams.greedy(), 0, true, stated);
        nanos.set(170);
        while (online.hasUnfinished()) {
            online.step();
        }
        long second = online.enqueue(new int[] {1}, 9, SamplingParams.greedy(), 0, true);
        online.step();
        assertThat(policy.seen())
                .containsExactly(
                        "0 of a at 170: arrived 100, due 150, priority 2, predicts 3, at most 9",
                        "1 of  at 170: arrived 170, due " + PolicyRequest.NO_DEADLINE
                                + ", priority 0, predicts 9, at most 9");
        assertThat(online.generatedIds(first)).hasSize(9);
        assertThat(online.generatedIds(second)).isNotEmpty();
    }

    @Test
    void prompt_logprobs_are_rejected() {
        assertThatThrownBy(() -> scheduler.enqueue(
                        new int[] {1}, 1, SamplingParams.greedy(), 0, true, RequestOptions.NONE.withPromptLogprobs(0)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("promptLogprobs is 0");
    }

    /** It could never admit a prompt longer than the steps the runner was loaded for. */
    @Test
    void runner_loaded_for_chunked_prefill_is_rejected_without_it() {
        EngineOptions cut = Models.options()
                .withScheduler(SchedulerOptions.builder()
                        .chunkedPrefill(true)
                        .prefillMaxTokens(8)
                        .build());
        SimRunner runner = Models.runner(cut, SimOptions.defaults());
        assertThatThrownBy(() -> new OnlineScheduler(runner, SchedulerOptions.defaults()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("or a custom runner with EngineLimits.runnerLimits(options, spec)");
    }

    @Test
    void adding_a_request_computes_its_first_token() {
        long id = add(1, 3);
        assertThat(scheduler.generatedIds(id)).hasSize(1);
    }

    @Test
    void step_decodes_one_token_per_row_of_the_batch() {
        long first = add(1, 5);
        long second = add(2, 5);
        long third = add(3, 5);
        OnlineScheduler.StepTokens tokens = scheduler.step();
        assertThat(tokens.size()).isEqualTo(2);
        assertThat(tokens.requestId(0)).isEqualTo(first);
        assertThat(tokens.token(1)).isEqualTo(scheduler.generatedIds(second)[1]);
        assertThat(scheduler.generatedIds(third)).hasSize(1);
    }

    @Test
    void queued_requests_are_prefilled_in_one_step() {
        for (int i = 0; i < 4; i++) {
            enqueue(i, 2);
        }
        assertThat(scheduler.prefill().size()).isEqualTo(3);
        assertThat(scheduler.prefill().size()).isEqualTo(1);
    }

    @Test
    void finished_ids_are_returned_once_after_the_last_token() {
        long id = add(1, 2);
        assertThat(scheduler.popFinishedIds()).isEmpty();
        scheduler.step();
        assertThat(scheduler.popFinishedIds()).containsExactly(id);
        assertThat(scheduler.popFinishedIds()).isEmpty();
        assertThat(scheduler.finishReason(id)).contains(FinishReason.LENGTH);
        assertThat(scheduler.generatedIds(id)).hasSize(2);
    }

    @Test
    void waiting_request_gets_the_blocks_of_earlier_ones() {
        OnlineScheduler small = new OnlineScheduler(
                Models.runner(Models.options().withKvBlocks(3).withScheduler(options), SimOptions.defaults()), options);
        for (int i = 0; i < 3; i++) {
            long id = small.addRequest(new int[] {i, i, i, i, i}, 4, SamplingParams.greedy(), 0, true);
            assertThat(small.generatedIds(id)).isNotEmpty();
        }
    }

    @Test
    void discard_frees_everything_and_is_idempotent() {
        long running = add(1, 10);
        long waiting = enqueue(2, 10);
        scheduler.discardRequest(running);
        scheduler.discardRequest(waiting);
        scheduler.discardRequest(running);
        scheduler.discardRequest(12345);
        assertThat(scheduler.blocksInUse()).isZero();
        assertThat(scheduler.hasUnfinished()).isFalse();
        assertThat(scheduler.step().size()).isZero();
    }

    @Test
    void discarded_request_is_not_returned_as_finished() {
        long running = add(1, 10);
        long waiting = enqueue(2, 10);
        long ended = add(3, 1);
        long kept = add(4, 1);
        scheduler.discardRequest(running);
        scheduler.discardRequest(waiting);
        scheduler.discardRequest(ended);
        assertThat(scheduler.popFinishedIds()).containsExactly(kept);
        assertThat(scheduler.popFinishedIds()).isEmpty();
    }

    @Test
    void discarded_requests_retain_no_state() throws Exception {
        List<WeakReference<Object>> discarded = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            long id = i % 2 == 0 ? add(i, 1 + i % 3) : enqueue(i, 5);
            discarded.add(new WeakReference<>(Models.sequence(scheduler, id)));
            scheduler.discardRequest(id);
        }
        // The plans of the last steps may still refer to their rows, fewer than six.
        while (discarded.stream().filter(reference -> reference.get() != null).count() > 10) {
            System.gc();
        }
        assertThat(scheduler.popFinishedIds()).isEmpty();
    }

    @Test
    void lost_step_fails_its_requests_and_the_others_continue() {
        SchedulerOptions single =
                SchedulerOptions.builder().prefillMaxBatchSize(1).build();
        SimOptions losing = SimOptions.defaults().withOnStep(step -> {
            if (step == 0) {
                throw new DeviceFailure("step lost", true);
            }
        });
        OnlineScheduler online =
                new OnlineScheduler(Models.runner(Models.options().withScheduler(single), losing), single);
        long failed = online.enqueue(new int[] {1}, 2, SamplingParams.greedy(), 0, true);
        long other = online.enqueue(new int[] {2}, 2, SamplingParams.greedy(), 0, true);
        assertThatThrownBy(online::step).hasMessage("step lost");
        while (online.hasUnfinished()) {
            online.step();
        }
        assertThat(online.popFinishedIds()).containsExactly(failed, other);
        assertThat(online.finishReason(failed)).contains(FinishReason.ERROR);
        assertThat(online.generatedIds(other)).hasSize(2);
        assertThat(online.blocksInUse()).isZero();
    }
}
