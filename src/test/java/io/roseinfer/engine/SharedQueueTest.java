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
        EngineOptions options = Models.options();
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
        queue.serve(one, 100, 0);
        queue.serve(other, 100, 0);
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
        queue.serve(one, 100, 0);
        assertThat(queue.size()).isEqualTo(1);
        queue.serve(other, 100, 0);
        assertThat(waits.loop()).isEqualTo(other);
    }

    @Test
    void nobody_takes_more_than_it_has_room_for() {
        EngineLoop one = loop();
        add();
        add();
        queue.serve(one, 1, 0);
        assertThat(queue.size()).isEqualTo(1);
        queue.serve(one, 0, 0);
        assertThat(queue.size()).isEqualTo(1);
    }

    @Test
    void what_was_given_back_comes_first_in_its_old_order() {
        EngineLoop one = loop();
        LiveRequest first = add();
        LiveRequest second = add();
        queue.serve(one, 2, 0);
        EngineLoop other = loop();
        LiveRequest third = add();
        for (LiveRequest request : List.of(first, second)) {
            assertThat(request.giveBack()).isTrue();
            request.attach(one.sequenceOf(request, request.promptIds()));
            queue.addBack(request);
        }
        queue.takersChanged(-1);
        queue.serve(other, 2, 0);
        assertThat(List.of(first, second)).extracting(LiveRequest::loop).containsOnly(other);
        assertThat(queue.size()).isEqualTo(1);
        queue.serve(other, 1, 0);
        assertThat(third.loop()).isEqualTo(other);
    }

    @Test
    void what_its_caller_has_ended_leaves_without_being_taken() {
        EngineLoop one = loop();
        LiveRequest ended = add();
        LiveRequest goesOn = add();
        assertThat(ended.claimEarlyEnding()).isTrue();
        queue.forget(ended);
        queue.serve(one, 1, 0);
        assertThat(goesOn.loop()).isEqualTo(one);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void a_deadline_that_passes_in_the_queue_is_told_though_no_engine_has_room() {
        EngineLoop one = loop();
        LiveRequest due = add(Models.request(4, 1).withDeadline(10));
        add(Models.request(4, 1).withDeadline(20));
        queue.serve(one, 0, 10);
        assertThat(expired).containsExactly(due);
        assertThat(queue.size()).isEqualTo(1);
    }

    /** Also says what a request costs, which depends on the machine and is not held to anything. */
    @Test
    void taking_a_request_out_of_many_allocates_the_nodes_of_the_lists_alone() {
        for (int i = 0; i < ENGINES; i++) {
            loop();
        }
        takeAll();
        long bytes = takeAll();
        assertThat(bytes / WAITING).as("bytes per request").isLessThanOrEqualTo(200);
    }

    /** Bytes that taking as many requests as wait allocates on this thread. */
    private long takeAll() {
        List<LiveRequest> requests = new ArrayList<>();
        for (int i = 0; i < WAITING; i++) {
            requests.add(routed(Models.request(4, 1, 2, 3)));
        }
        long start = System.nanoTime();
        requests.forEach(queue::add);
        long added = System.nanoTime();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int turn = 0; !queue.isEmpty(); turn++) {
            EngineLoop loop = loops.get(turn % ENGINES);
            queue.serve(loop, 8, 0);
        }
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        System.out.printf(
                Locale.ROOT,
                "%d engines, %d waiting: %d ns a request to queue it, %d ns to take it%n",
                ENGINES,
                WAITING,
                (added - start) / WAITING,
                (System.nanoTime() - added) / WAITING);
        for (EngineLoop loop : loops) {
            loop.endAll(Ending.CANCELLED, () -> {});
        }
        return bytes;
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
