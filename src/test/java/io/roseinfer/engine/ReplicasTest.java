package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.sim.SimFaults;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplicasTest {
    private static final int REQUESTS = 40;

    /** Maximum wait for a request; {@link PlantedBugsTest} waits that long. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(5);

    static List<RoutingPolicy> policies() {
        return List.of(
                RoutingPolicy.pull(),
                RoutingPolicy.roundRobin(),
                RoutingPolicy.leastTokens(),
                RoutingPolicy.prefix(),
                RoutingPolicy.vllm(),
                RoutingPolicy.sglang(),
                RoutingPolicy.dynamo());
    }

    private static GenerationRequest request(int i) {
        return Models.request(8, i, i + 1, i + 2).withSeed(i);
    }

    private static Engine engine(RoutingPolicy routing, SimOptions... devices) {
        return engine(routing, Observers.NONE, devices);
    }

    private static Engine engine(RoutingPolicy routing, Observers observers, SimOptions... devices) {
        EngineOptions options = Models.options();
        List<SimRunner> runners =
                Stream.of(devices).map(device -> Models.runner(options, device)).toList();
        return Engine.open(runners, Optional.empty(), options, routing, Models.ticking(), observers);
    }

    /** Returns options of a device that fails in its first step after {@code lost} is set. */
    private static SimOptions losing(AtomicBoolean lost) {
        return SimOptions.defaults().withOnStep(step -> {
            if (lost.get()) {
                throw new DeviceFailure("the device is gone", false);
            }
        });
    }

    /** Returns options of a device whose steps wait for a latch. */
    private static SimOptions held(CountDownLatch open) {
        return SimOptions.defaults().withOnStep(step -> await(open));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @MethodSource("policies")
    void several_replicas_give_the_same_tokens_as_one(RoutingPolicy routing) {
        try (Engine one = engine(routing, SimOptions.defaults());
                Engine three = engine(routing, SimOptions.defaults(), SimOptions.defaults(), SimOptions.defaults())) {
            List<TokenStream> streams = IntStream.range(0, REQUESTS)
                    .mapToObj(i -> three.submit(request(i)))
                    .toList();
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(streams.get(i).completion().ids())
                        .as("request %d", i)
                        .isEqualTo(one.generate(request(i)).ids());
            }
            assertThat(three.stats().requests().accepted()).isEqualTo(REQUESTS);
            assertThat(three.loads()).allMatch(load -> load.requests() == 0 && load.outstandingTokens() == 0);
        }
    }

    @Test
    void routing_policy_that_violates_its_contract_or_throws_is_named_and_fails_one_request() {
        RoutingPolicy wrong = (request, living) -> {
            if (request.promptTokens() == 1) {
                throw new AssertionError("planted");
            }
            return request.promptTokens() == 2 ? 7 : 1;
        };
        try (Engine engine = engine(wrong, SimOptions.defaults(), SimOptions.defaults())) {
            assertThatThrownBy(() -> engine.submit(Models.request(1, 1)))
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining("the routing policy " + getClass().getName())
                    .hasMessageContaining("threw java.lang.AssertionError: planted");
            assertThatThrownBy(() -> engine.submit(Models.request(1, 1, 2)))
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining("chose replica 7 of 2; allowed are 0 to 1, and -1 for any");
            assertThat(engine.generate(request(1)).ids()).hasSize(8);
            assertThat(engine.inflight()).isZero();
        }
    }

    /** Waits until this many engine threads, other than the given ones, are idle. */
    private static void awaitIdle(int engines, Set<Thread> others) {
        while (Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith("roseinfer-engine") && !others.contains(thread))
                        .filter(thread -> thread.getState() == Thread.State.WAITING
                                || thread.getState() == Thread.State.TIMED_WAITING)
                        .count()
                < engines) {
            Thread.onSpinWait();
        }
    }

    @Test
    void request_whose_replica_stops_when_woken_is_served_by_the_parked_one() {
        AtomicBoolean armed = new AtomicBoolean();
        Observers throwing = Observers.ofStepsOfEach(replica -> (event, step) -> {
            if (event == StepEvent.ITERATION_STARTED && armed.compareAndSet(true, false)) {
                throw new IllegalStateException("planted");
            }
        });
        Set<Thread> others = Thread.getAllStackTraces().keySet();
        try (Engine engine = engine(RoutingPolicy.pull(), throwing, SimOptions.defaults(), SimOptions.defaults())) {
            awaitIdle(2, others);
            armed.set(true);
            TokenStream stream = engine.submit(request(1));
            Completion served = assertTimeoutPreemptively(MAX_WAIT, stream::completion);
            assertThat(served.ids()).hasSize(8);
            assertThat(armed).isFalse();
        }
    }

    @Test
    void round_robin_alternates_between_replicas() {
        try (Engine engine = engine(RoutingPolicy.roundRobin(), SimOptions.defaults(), SimOptions.defaults())) {
            IntStream.range(0, REQUESTS)
                    .mapToObj(i -> engine.submit(request(i)))
                    .toList()
                    .forEach(TokenStream::completion);
            assertThat(engine.replicaStats()).hasSize(2).allMatch(stats -> stats.steps() > 0);
        }
    }

    @Test
    void blocked_replica_does_not_delay_shared_requests() {
        CountDownLatch open = new CountDownLatch(1);
        try (Engine engine = engine(RoutingPolicy.pull(), held(open), SimOptions.defaults())) {
            List<TokenStream> streams = IntStream.range(0, REQUESTS)
                    .mapToObj(i -> engine.submit(request(i)))
                    .toList();
            long atTheOther = 0;
            while (engine.stats().waiting() > 0 || atTheOther < REQUESTS - 8) {
                atTheOther = streams.stream()
                        .filter(stream -> stream.finishReason().isPresent())
                        .count();
                Thread.onSpinWait();
            }
            open.countDown();
            streams.forEach(TokenStream::completion);
        }
    }

    @Test
    void requests_without_output_of_a_failed_replica_are_served_by_the_others() {
        AtomicBoolean lost = new AtomicBoolean(true);
        try (Engine engine = engine(RoutingPolicy.roundRobin(), losing(lost), SimOptions.defaults())) {
            List<TokenStream> streams = IntStream.range(0, REQUESTS)
                    .mapToObj(i -> engine.submit(request(i)))
                    .toList();
            streams.forEach(stream -> assertThat(stream.completion().ids()).hasSize(8));
            assertThat(engine.failure(0)).get().isInstanceOf(ReplicaStopped.class);
            assertThat(engine.failure(1)).isEmpty();
            assertThat(engine.generate(request(1)).ids()).hasSize(8);
        }
    }

    @Test
    void request_that_makes_replicas_fail_stops_two_at_most() {
        SimOptions poisoned = SimOptions.defaults().withFaults(SimFaults.parse("faults", "death=14"));
        try (Engine engine = engine(RoutingPolicy.pull(), poisoned, poisoned, poisoned)) {
            assertThatThrownBy(() -> engine.generate(Models.request(8, 14)))
                    .isInstanceOfSatisfying(
                            ReplicaStopped.class,
                            stopped -> assertThat(stopped.suspectsRequest()).isTrue())
                    .hasMessageEndingWith(
                            "; it is the second replica that stopped during this request, so do not submit it again");
            assertThat(IntStream.range(0, 3)
                            .filter(replica -> engine.failure(replica).isPresent()))
                    .hasSize(2);
            assertThat(engine.generate(request(1)).ids()).hasSize(8);
        }
    }

    @Test
    void request_cancelled_before_its_replica_fails_ends_while_the_others_are_busy() {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch dies = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        SimOptions dying = SimOptions.defaults().withOnStep(step -> {
            begun.countDown();
            await(dies);
            throw new DeviceFailure("the device is gone", false);
        });
        SimOptions busy = SimOptions.defaults().withOnStep(step -> {
            begun.countDown();
            await(open);
        });
        try (Engine engine = engine(RoutingPolicy.roundRobin(), dying, busy)) {
            TokenStream cancelled = engine.submit(request(0));
            TokenStream other = engine.submit(request(1));
            await(begun);
            cancelled.close();
            dies.countDown();
            try {
                assertThat(assertTimeoutPreemptively(MAX_WAIT, cancelled::completion)
                                .finishReason())
                        .isEqualTo(FinishReason.CANCELLED);
                assertThat(other.finishReason()).isEmpty();
            } finally {
                open.countDown();
            }
        }
    }

    @Test
    void request_with_a_token_fails_with_its_replica_and_the_message_names_the_remedy() {
        CountDownLatch seen = new CountDownLatch(1);
        SimOptions lostAfterAStep = SimOptions.defaults().withOnStep(step -> {
            if (step > 0) {
                await(seen);
                throw new DeviceFailure("the device is gone", false);
            }
        });
        RoutingPolicy first = (request, living) -> 0;
        try (Engine engine = engine(first, lostAfterAStep, SimOptions.defaults())) {
            TokenStream stream = engine.submit(Models.request(60, 1));
            assertThat(stream.next()).isNotNull();
            seen.countDown();
            assertThatThrownBy(stream::completion)
                    .isInstanceOfSatisfying(
                            ReplicaStopped.class,
                            stopped -> assertThat(stopped.suspectsRequest()).isFalse())
                    .hasMessageContaining("replica 0 stopped")
                    .hasMessageContaining("the device is gone")
                    .hasMessageEndingWith("; the other replicas continue, so submit the request again");
            assertThat(engine.generate(request(1)).ids()).hasSize(8);
        }
    }

    @Test
    void replica_out_of_memory_leaves_the_others_serving() {
        SimOptions full = SimOptions.defaults().withOnStep(step -> {
            throw new OutOfMemoryError("Java heap space");
        });
        try (Engine engine = engine(RoutingPolicy.roundRobin(), full, SimOptions.defaults())) {
            List<TokenStream> streams = IntStream.range(0, REQUESTS)
                    .mapToObj(i -> engine.submit(request(i)))
                    .toList();
            streams.forEach(stream -> assertThat(stream.completion().ids()).hasSize(8));
            assertThat(engine.failure(0))
                    .get()
                    .isInstanceOf(ReplicaStopped.class)
                    .extracting(Throwable::getMessage)
                    .asString()
                    .contains("it ran out of memory (Java heap space); give the JVM more (-Xmx)");
            assertThat(engine.failure(1)).isEmpty();
        }
    }

    @Test
    void engine_fails_with_its_last_replica() {
        AtomicBoolean lost = new AtomicBoolean(true);
        try (Engine engine = engine(RoutingPolicy.pull(), losing(lost), losing(lost))) {
            assertThatThrownBy(() -> {
                        while (true) {
                            Completion unused = engine.generate(request(1));
                        }
                    })
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining("the device is gone");
            assertThatThrownBy(() -> engine.submit(request(1))).isInstanceOf(EngineStopped.class);
        }
    }

    @Test
    void cpu_replicas_share_one_copy_of_the_weights() {
        GenerationRequest request = GenerationRequest.of("Once upon a time").withMaxNewTokens(4);
        Settings settings = Settings.of("builtin:tiny");
        Settings two = settings.withDevice(Settings.Device.CPU)
                .withThreads(2)
                .withReplicas(2)
                .withRouting(RoutingPolicy.roundRobin());
        try (Engine one = Roseinfer.open(settings.withDevice(Settings.Device.CPU));
                Engine both = Roseinfer.open(two)) {
            int[] expected = one.generate(request).ids();
            assertThat(both.replicas()).isEqualTo(2);
            assertThat(both.generate(request).ids()).isEqualTo(expected);
            assertThat(both.generate(request).ids()).isEqualTo(expected);
            assertThat(both.replicaStats()).allMatch(stats -> stats.steps() > 0);
        }
    }
}
