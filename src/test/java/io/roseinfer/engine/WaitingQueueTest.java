package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.WaitingQueue;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** All requests wait in one queue, and a replica with free capacity ranks all that it may admit. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingQueueTest {
    private static final int PLAIN = 20;
    private static final int URGENT = 4;

    /** Ranks by priority, considers all, and records what it sees. */
    private static final class Watching implements AdmissionPolicy {
        private final AtomicInteger most = new AtomicInteger();
        private final AtomicInteger ranked = new AtomicInteger();
        private final AtomicBoolean inside = new AtomicBoolean();
        private final AtomicBoolean overlapped = new AtomicBoolean();
        /** The view of the replica that ranked last; each has its own. */
        private @Nullable QueueView view;

        private long iteration;
        private int inIteration;

        @Override
        public int lookahead() {
            return Integer.MAX_VALUE;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            overlapped.compareAndSet(false, !inside.compareAndSet(false, true));
            inIteration = queue.equals(view) && queue.iteration() == iteration ? inIteration + 1 : 1;
            iteration = queue.iteration();
            view = queue;
            ranked.accumulateAndGet(inIteration, Math::max);
            most.accumulateAndGet(queue.waiting(), Math::max);
            inside.set(false);
            return -request.priority();
        }
    }

    private final Watching policy = new Watching();
    private final EngineOptions oneActive = Models.options()
            .withScheduler(SchedulerOptions.builder()
                    .maxActiveRequests(1)
                    .admission(policy)
                    .build());

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Occupies the only active slot of each of two replicas, queues {@value #PLAIN} requests and then {@value #URGENT}
     * urgent ones, and releases the devices. Returns the completions in order of admission.
     */
    private List<Completion> serve(RoutingPolicy routing) {
        CountDownLatch open = new CountDownLatch(1);
        SimOptions held = SimOptions.defaults().withOnStep(step -> await(open));
        List<SimRunner> runners =
                Stream.of(held, held).map(sim -> Models.runner(oneActive, sim)).toList();
        try (Engine engine =
                Engine.open(runners, Optional.empty(), oneActive, routing, Models.ticking(), Observers.NONE)) {
            List<TokenStream> first = List.of(engine.submit(Models.request(2, 1)), engine.submit(Models.request(2, 2)));
            while (engine.loads().stream().anyMatch(load -> load.running() == 0)) {
                Thread.onSpinWait();
            }
            List<TokenStream> streams = new ArrayList<>();
            for (int i = 0; i < PLAIN + URGENT; i++) {
                int priority = i < PLAIN ? 0 : 9;
                streams.add(engine.submit(
                        Models.request(2, 3 + i).withPriority(priority).withTag(priority)));
            }
            open.countDown();
            first.forEach(TokenStream::completion);
            return streams.stream()
                    .map(TokenStream::completion)
                    .sorted(Comparator.comparingLong(done -> done.timeline().admittedNanos()))
                    .toList();
        }
    }

    private static List<Object> tags(List<Completion> completions) {
        return completions.stream().map(done -> done.tag().orElseThrow()).toList();
    }

    @Test
    void policy_of_two_pulling_replicas_ranks_all_waiting_requests() {
        List<Completion> served = serve(RoutingPolicy.pull());
        assertThat(policy.most).hasValue(PLAIN + URGENT);
        assertThat(policy.ranked).hasValue(PLAIN + URGENT);
        assertThat(tags(served).subList(0, URGENT)).containsOnly(9);
        assertThat(tags(served).subList(URGENT, served.size())).containsOnly(0);
    }

    @Test
    void policy_of_two_replicas_ranks_all_requests_bound_to_the_replica() {
        List<Completion> served = serve(RoutingPolicy.roundRobin());
        assertThat(policy.ranked).hasValue((PLAIN + URGENT) / 2);
        for (int engine : new int[] {0, 1}) {
            List<Object> tags = tags(served.stream()
                    .filter(done -> done.timeline().replica() == engine)
                    .toList());
            assertThat(tags.subList(0, URGENT / 2)).containsOnly(9);
            assertThat(tags.subList(URGENT / 2, tags.size())).hasSize(PLAIN / 2).containsOnly(0);
        }
    }

    @Test
    void shared_policy_is_called_by_one_thread_at_a_time() {
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder()
                        .maxActiveRequests(2)
                        .admission(policy)
                        .build());
        List<SimRunner> runners = IntStream.range(0, 4)
                .mapToObj(i -> Models.runner(options, SimOptions.defaults()))
                .toList();
        try (Engine engine = Engine.open(
                runners, Optional.empty(), options, RoutingPolicy.pull(), Models.ticking(), Observers.NONE)) {
            List<TokenStream> streams = IntStream.range(0, 2000)
                    .mapToObj(i -> engine.submit(Models.request(1 + i % 3, i % 100)))
                    .toList();
            streams.forEach(TokenStream::completion);
        }
        assertThat(policy.overlapped).isFalse();
    }

    /** Loops over one queue, run by hand. */
    private static final class Loops {
        private final List<EngineLoop> all = new ArrayList<>();
        private final InFlight inFlight;
        private long nextId;

        Loops(EngineOptions... options) {
            inFlight = new InFlight(
                    Integer.MAX_VALUE,
                    Models.ticking(),
                    Observers.NONE.requests(),
                    new WaitingQueue(options.length, options[0].scheduler().policies()),
                    new TokenizeWorkers(0, request -> {}),
                    () -> {});
            for (int i = 0; i < options.length; i++) {
                SimRunner runner =
                        Models.runner(options[i], SimOptions.defaults().withMaxInFlight(1 + i % 2));
                all.add(new EngineLoop(i, runner, options[i], Models.ticking(), Observers.NONE, false, inFlight));
            }
        }

        LiveRequest submit(GenerationRequest wanted, int engine) {
            inFlight.reserve();
            LiveRequest live = new LiveRequest(nextId++, wanted, 0, Models.CONTEXT, Optional.empty());
            int[] prompt = ((Prompt.Tokens) wanted.prompt()).own();
            live.tokenized(prompt.length, 0);
            inFlight.watch(live);
            assertThat(inFlight.enqueue(live, live.newSequence(prompt, Models.spec()), engine))
                    .isTrue();
            return live;
        }

        LiveRequest submit() {
            return submit(Models.request(4, 1, 2, 3), WaitingQueue.ANY);
        }

        void runIteration(int engine) {
            List<ReplicaLoad> loads = all.stream().map(EngineLoop::load).toList();
            all.get(engine)
                    .doWork(RequestRouter.share(
                            loads.get(engine), loads, inFlight.waitingQueue().sharedCount()));
        }

        void run() {
            while (inFlight.count() > 0) {
                IntStream.range(0, all.size()).forEach(this::runIteration);
            }
        }
    }

    @Test
    void each_replica_admits_its_share_in_order_of_arrival() {
        Loops loops = new Loops(Models.options(), Models.options());
        List<LiveRequest> requests = Stream.generate(loops::submit).limit(4).toList();
        loops.runIteration(0);
        loops.runIteration(1);
        assertThat(requests).extracting(LiveRequest::replica).containsExactly(0, 0, 1, 1);
    }

    /**
     * Two steps in flight, each with room for two prompts; the replica's share excludes requests bound to it.
     */
    @Test
    void iteration_admits_exactly_its_share_regardless_of_the_steps_it_launches() {
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder()
                        .prefillMaxBatchSize(2)
                        .chunkedPrefill(true)
                        .build());
        for (long seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            Loops loops = new Loops(options, options);
            List<LiveRequest> shared = new ArrayList<>();
            int share = random.nextInt(5);
            int expected = 0;
            int places = 4;
            for (int i = 0; i < 8; i++) {
                boolean isBound = random.nextBoolean();
                LiveRequest request = loops.submit(Models.request(4, 1, 2, i), isBound ? 1 : WaitingQueue.ANY);
                if (isBound) {
                    request.addLoad(loops.all.get(1).load(), request.sequence().orElseThrow());
                } else {
                    shared.add(request);
                }
                boolean admits = places > 0 && (isBound || expected < share);
                places -= admits ? 1 : 0;
                expected += admits && !isBound ? 1 : 0;
            }
            loops.all.get(1).doWork(share);
            assertThat(shared.stream().filter(request -> request.replica() == 1))
                    .as("seed %d, share %d", seed, share)
                    .hasSize(expected);
        }
    }

    @Test
    void replica_far_ahead_leaves_waiting_requests_to_the_others() {
        Loops loops = new Loops(Models.options(), Models.options());
        for (int i = 0; i < 20; i++) {
            LiveRequest own = loops.submit(Models.request(4, 1, 2, 3), 0);
            own.addLoad(loops.all.getFirst().load(), own.sequence().orElseThrow());
        }
        LiveRequest waits = loops.submit();
        loops.runIteration(0);
        assertThat(waits.replica()).isEqualTo(WaitingQueue.ANY);
        loops.runIteration(1);
        assertThat(waits.replica()).isEqualTo(1);
    }

    /** A prompt of three tokens takes a block, and each admitted request needs another to grow into. */
    @Test
    void replica_admits_no_more_than_its_blocks_allow() {
        Loops loops = new Loops(Models.options().withKvBlocks(3), Models.options());
        List<LiveRequest> requests = Stream.generate(loops::submit).limit(6).toList();
        loops.runIteration(0);
        // A step of prompts, one of decode rows, and one of prompts.
        loops.runIteration(1);
        loops.runIteration(1);
        loops.runIteration(1);
        assertThat(requests).extracting(LiveRequest::replica).containsExactly(0, 0, 1, 1, 1, 1);
    }

    @Test
    void requeued_requests_come_first_in_their_original_order() {
        Loops loops = new Loops(Models.options(), Models.options().withKvBlocks(3));
        List<LiveRequest> back = List.of(loops.submit(), loops.submit());
        LiveRequest bound = loops.submit(Models.request(4, 1, 2, 3), 0);
        loops.all.getFirst().doWork(2);
        LiveRequest later = loops.submit();
        loops.inFlight.unbindAll(0);
        loops.all.getFirst().requeueRestartable(loops.inFlight::requeue);
        loops.all.get(1).doWork(Integer.MAX_VALUE);
        assertThat(back).extracting(LiveRequest::replica).containsOnly(1);
        assertThat(bound.sequence().orElseThrow().isWaiting() || bound.replica() == 0)
                .isTrue();
        assertThat(later.replica()).isEqualTo(WaitingQueue.ANY);
        assertThat(loops.all.getFirst().load().requests()).isZero();
    }

    @Test
    void cancelled_waiting_request_leaves_the_queue_immediately() {
        Loops loops = new Loops(Models.options(), Models.options());
        LiveRequest ended = loops.submit();
        LiveRequest bound = loops.submit(Models.request(4, 1), 1);
        LiveRequest goesOn = loops.submit();
        assertThat(loops.inFlight.endBeforeAdmission(ended, RequestOutcome.CANCELLED))
                .isTrue();
        assertThat(loops.inFlight.endBeforeAdmission(bound, RequestOutcome.CANCELLED))
                .isTrue();
        assertThat(loops.inFlight.waitingQueue().sharedCount()).isEqualTo(1);
        assertThat(loops.inFlight.waitingQueue().boundCount(1)).isZero();
        loops.runIteration(0);
        assertThat(goesOn.replica()).isZero();
        assertThat(loops.inFlight.endBeforeAdmission(goesOn, RequestOutcome.CANCELLED))
                .isFalse();
        loops.run();
    }

    @Test
    void waiting_request_ends_at_its_deadline() {
        Loops loops = new Loops(Models.options(), Models.options());
        LiveRequest due = loops.submit(Models.request(4, 1).withDeadline(10), WaitingQueue.ANY);
        LiveRequest later = loops.submit(Models.request(4, 1).withDeadline(20), 1);
        assertThat(loops.inFlight.nextDeadlineNanos()).isEqualTo(10);
        loops.inFlight.expireUntil(10);
        assertThat(due.outcome()).map(RequestOutcome::reason).contains(FinishReason.DEADLINE);
        assertThat(loops.inFlight.nextDeadlineNanos()).isEqualTo(20);
        assertThat(later.hasEnded()).isFalse();
    }

    /** Returns a policy that admits the newest of all waiting requests first. */
    private static AdmissionPolicy newestFirst() {
        return new AdmissionPolicy() {
            @Override
            public int lookahead() {
                return Integer.MAX_VALUE;
            }

            @Override
            public long rank(WaitingRequest request, QueueView queue) {
                return -request.arrival();
            }
        };
    }

    @Test
    void skips_by_all_replicas_together_are_limited() {
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(1)
                        .maxActiveRequests(1)
                        .admission(newestFirst())
                        .build());
        Loops loops = new Loops(options, options);
        LiveRequest oldest = loops.submit(Models.request(1, 7), WaitingQueue.ANY);
        List<LiveRequest> newer = new ArrayList<>();
        while (!oldest.hasEnded()) {
            newer.add(loops.submit(Models.request(1, 8), WaitingQueue.ANY));
            loops.runIteration(newer.size() % 2);
        }
        assertThat(newer.stream().filter(LiveRequest::hasEnded).count())
                .isBetween((long) AdmissionPolicy.MAX_PASSES - 2, (long) AdmissionPolicy.MAX_PASSES + 2);
    }

    @Test
    void replica_ranks_by_its_own_cache() {
        List<Integer> cached = Collections.synchronizedList(new ArrayList<>());
        AdmissionPolicy looking = new AdmissionPolicy() {
            @Override
            public int lookahead() {
                return 1;
            }

            @Override
            public long rank(WaitingRequest request, QueueView queue) {
                cached.add(request.cachedLength());
                return 0;
            }
        };
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder()
                        .prefillMaxBatchSize(1)
                        .admission(looking)
                        .build());
        Loops loops = new Loops(options, options);
        int[] prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        loops.submit(Models.request(1, prompt), 0);
        loops.run();
        cached.clear();
        loops.submit(Models.request(1, prompt), WaitingQueue.ANY);
        loops.submit(Models.request(1, prompt), WaitingQueue.ANY);
        loops.runIteration(0);
        loops.runIteration(1);
        assertThat(cached).containsExactly(8, 0);
    }
}
