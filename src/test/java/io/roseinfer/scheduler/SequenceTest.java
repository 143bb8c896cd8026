package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SequenceTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final KvBlockPool pool = new KvBlockPool(2000, 4, false);

    private Sequence sequence(int maxLength) {
        return new Sequence(0, this, new int[] {7, 8, 9}, maxLength, SamplingParams.greedy(), 0, new int[0]);
    }

    @Test
    void sequence_allocates_memory_for_its_tokens_not_for_its_maximum() {
        Sequence warm = sequence(10);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        Sequence allowedMuch = sequence(1_000_000);
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isBetween(1L, 4000L);
        assertThat(warm.promptLength()).isEqualTo(allowedMuch.promptLength());
        assertThat(allowedMuch.waiting.remainingNewTokens()).isEqualTo(999_997);
    }

    @Test
    void tokens_and_blocks_are_unchanged_while_a_sequence_grows() {
        int length = 5000;
        Scheduler scheduler = new Scheduler(SchedulerOptions.defaults(), pool, length);
        Sequence sequence = sequence(length);
        scheduler.add(sequence);
        StepPlan plan = scheduler.newPlan();
        while (scheduler.hasWork()) {
            scheduler.plan(plan);
            int next = 10 + sequence.length();
            scheduler.apply(plan, sample -> next);
        }
        assertThat(sequence.finishReason()).contains(FinishReason.LENGTH);
        assertThat(sequence.length()).isEqualTo(length);
        for (int index = 3; index < length; index++) {
            assertThat(sequence.token(index)).as("token %d", index).isEqualTo(10 + index);
        }
        assertThat(sequence.promptIds()).containsExactly(7, 8, 9);
    }

    /** Otherwise cached tokens would not be reported. */
    @Test
    void sequence_reuses_cached_tokens_only_before_its_next_report() {
        KvBlockPool caching = new KvBlockPool(10, 4, true);
        BlockTable table = new BlockTable(caching, 10);
        assertThat(table.grow(8)).isTrue();
        table.publish(new int[10], 8);
        Sequence plain = new Sequence(0, this, new int[10], 20, SamplingParams.greedy(), 0, new int[0]);
        Sequence reports = plain.newAttempt().setPromptLogprobs(0);
        plain.table().setPool(caching);
        reports.table().setPool(caching);
        assertThat(plain.cachedLength()).isEqualTo(8);
        assertThat(reports.cachedLength()).isZero();
        reports.advance(0, 5, 5, 0, 0);
        assertThat(reports.cachedLength()).isEqualTo(4);
    }

    @Test
    void sequence_preempted_for_blocks_is_next_but_not_because_of_its_passes() {
        Sequence sequence = sequence(10);
        sequence.timesPassedOver = 3;
        assertThat(sequence.reachedMaxPasses(3)).isTrue();
        sequence.restartsFirst = true;
        assertThat(sequence.reachedMaxPasses(3)).isFalse();
        assertThat(sequence.mustBeNext(4)).isTrue();
    }

    /** It keeps its arrival, its rank and its number of skips. */
    @Test
    void requeued_sequence_shows_policies_the_same_values() throws ReflectiveOperationException {
        Sequence sequence = new Sequence(5, this, new int[] {7, 8, 9}, 20, SamplingParams.random(), 3, new int[] {4})
                .setTraits(new RequestTraits(3, 4, 2, "tenant", Optional.of("tag"), OptionalInt.of(5)));
        sequence.table().setPool(pool);
        sequence.setArrival(17, 90);
        sequence.timesPassedOver = 63;
        Map<String, Object> waiting = shown(sequence.waiting);
        assertThat(sequence.table().grow(3)).isTrue();
        sequence.advance(0, 3, 0, 1, 0);
        assertThat(sequence.resolve(1)).isFalse();
        assertThat(shown(sequence.waiting)).isNotEqualTo(waiting);
        Sequence again = sequence.newAttempt();
        again.table().setPool(pool);
        assertThat(shown(again.waiting)).isEqualTo(waiting);
        assertThat(again.promptIds()).isEqualTo(sequence.promptIds());
        assertThat(again.maxLength()).isEqualTo(sequence.maxLength());
        assertThat(again.isEndOfText(4)).isTrue();
        assertThat(again.owner()).isSameAs(sequence.owner());
        assertThat(again.sampling().seed()).isEqualTo(3);
        assertThat(again.sampling().params()).isEqualTo(SamplingParams.random());
    }

    private static Map<String, Object> shown(WaitingRequest request) throws ReflectiveOperationException {
        Map<String, Object> shown = new TreeMap<>();
        for (Method method : WaitingRequest.class.getMethods()) {
            if (method.getParameterCount() == 0) {
                shown.put(method.getName(), method.invoke(request));
            }
        }
        return shown;
    }
}
