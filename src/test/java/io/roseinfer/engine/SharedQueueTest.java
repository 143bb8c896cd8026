package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.FinishReason;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SharedQueueTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final int ENGINES = 8;
    private static final int WAITING = 100_000;

    private final List<LiveRequest> expired = new ArrayList<>();
    private final SharedQueue queue = new SharedQueue(expired::add);
    private final List<EngineLoop> loops = new ArrayList<>();
    private long nextId;

    private EngineLoop loop() {
        return loop(200);
    }

    private EngineLoop loop(int blocks) {
        EngineOptions options = Models.options().withKvBlocks(blocks);
        SimRunner runner = Models.runner(options, SimOptions.defaults());
        EngineLoop loop = new EngineLoop(
                loops.size(), runner, runner.kv(), options, Clock.system(), Observers.NONE, queue, () -> {});
        loops.add(loop);
        queue.takersChanged(1);
        return loop;
    }

    private LiveRequest add(GenerationRequest wanted) {
        LiveRequest live = routed(wanted);
        queue.add(live);
        return live;
    }

    private LiveRequest routed(GenerationRequest wanted) {
        LiveRequest live = new LiveRequest(nextId++, wanted, 0, Models.CONTEXT, Optional.empty());
        int[] prompt = ((Prompt.Tokens) wanted.prompt()).own();
        assertThat(live.route()).isTrue();
        live.tokenized(prompt.length, 0);
        live.attach(loops.getFirst().sequenceOf(live, prompt));
        return live;
    }

    private LiveRequest routed() {
        return routed(Models.request(4, 1, 2, 3));
    }

    private LiveRequest add() {
        return add(Models.request(4, 1, 2, 3));
    }

    @Test
    void each_engine_takes_its_share_in_the_order_of_arrival() {
        EngineLoop one = loop();
        EngineLoop other = loop();
        List<LiveRequest> requests = List.of(add(), add(), add(), add());
        queue.serve(one);
        queue.serve(other);
        assertThat(requests).extracting(LiveRequest::loop).containsExactly(one, one, other, other);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void an_engine_that_is_far_ahead_leaves_what_waits_to_the_others() {
        EngineLoop one = loop();
        EngineLoop other = loop();
        for (int i = 0; i < 20; i++) {
            one.submit(routed(), new int[] {1, 2, 3});
        }
        LiveRequest waits = add();
        queue.serve(one);
        assertThat(queue.size()).isEqualTo(1);
        queue.serve(other);
        assertThat(waits.loop()).isEqualTo(other);
    }

    /** A prompt of three tokens takes a block, and each that is admitted needs another to grow into. */
    @Test
    void engine_takes_no_more_than_its_blocks_can_admit() {
        EngineLoop full = loop(3);
        EngineLoop other = loop();
        List<LiveRequest> requests = List.of(add(), add(), add(), add(), add(), add());
        queue.serve(full);
        assertThat(queue.size()).isEqualTo(4);
        queue.serve(other);
        queue.serve(other);
        assertThat(requests).extracting(LiveRequest::loop).containsExactly(full, full, other, other, other, other);
    }

    @Test
    void what_was_given_back_comes_first_in_its_old_order() {
        EngineLoop one = loop();
        LiveRequest first = add();
        LiveRequest second = add();
        queue.serve(one);
        EngineLoop other = loop(3);
        LiveRequest third = add();
        for (LiveRequest request : List.of(first, second)) {
            assertThat(request.giveBack()).isTrue();
            request.attach(one.sequenceOf(request, request.promptIds()));
            queue.addBack(request);
        }
        queue.takersChanged(-1);
        queue.serve(other);
        assertThat(List.of(first, second)).extracting(LiveRequest::loop).containsOnly(other);
        assertThat(queue.size()).isEqualTo(1);
        assertThat(third.hasEnded()).isFalse();
    }

    @Test
    void request_that_is_cancelled_once_it_was_taken_ends_and_is_not_given_back() {
        EngineLoop one = loop();
        LiveRequest taken = add();
        queue.serve(one);
        one.cancel(taken);
        queue.sleepersChanged(1);
        one.doWork();
        assertThat(taken.ending().orElseThrow().reason()).isEqualTo(FinishReason.CANCELLED);
    }

    @Test
    void what_its_caller_has_ended_leaves_without_being_taken() {
        EngineLoop one = loop();
        LiveRequest ended = add();
        LiveRequest goesOn = add();
        assertThat(ended.claimEarlyEnding()).isTrue();
        queue.forget(ended);
        queue.serve(one);
        assertThat(goesOn.loop()).isEqualTo(one);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void deadline_of_a_request_that_no_engine_has_is_watched() {
        loop();
        LiveRequest due = add(Models.request(4, 1).withDeadline(10));
        LiveRequest later = add(Models.request(4, 1).withDeadline(20));
        assertThat(queue.watch(later)).isTrue();
        assertThat(queue.watch(due)).isTrue();
        assertThat(queue.nextDeadlineNanos()).isEqualTo(10);
        queue.expireUntil(10);
        assertThat(expired).containsExactly(due);
        queue.unwatch(later);
        queue.expireUntil(Long.MAX_VALUE - 1);
        assertThat(expired).containsExactly(due);
    }

    @Test
    void a_policy_that_chooses_allocates_nothing() {
        for (int i = 0; i < ENGINES; i++) {
            loop();
        }
        List<ReplicaLoad> loads = loops.stream().map(EngineLoop::load).toList();
        LiveRequest request = routed(Models.request(4, 1, 2, 3));
        request.prefixes(PublishedPrefixes.of(new int[2048], 16));
        for (RoutingPolicy policy : List.of(
                RoutingPolicy.pull(),
                RoutingPolicy.roundRobin(),
                RoutingPolicy.leastTokens(),
                RoutingPolicy.prefix(),
                RoutingPolicy.vllm(),
                RoutingPolicy.dynamo())) {
            assertThat(LongStream.range(0, 5)
                            .map(run -> choose(policy, request, loads))
                            .min())
                    .as("bytes of %s, once all is loaded", policy)
                    .hasValue(0);
        }
    }

    private static long choose(RoutingPolicy policy, LiveRequest request, List<ReplicaLoad> loads) {
        long start = System.nanoTime();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        int sum = 0;
        for (int i = 0; i < WAITING; i++) {
            sum += policy.choose(request, loads);
        }
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        System.out.printf(Locale.ROOT, "%s: %d ns a choice (%d)%n", policy, (System.nanoTime() - start) / WAITING, sum);
        return bytes;
    }
}
