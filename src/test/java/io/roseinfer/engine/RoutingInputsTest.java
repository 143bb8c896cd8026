package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Facts about requests and the shared queue that a routing policy sees, and policies that use them. */
class RoutingInputsTest {
    private static final EngineOptions ONE_ACTIVE = Models.options()
            .withScheduler(SchedulerOptions.builder().maxActiveRequests(1).build());

    private static List<SimRunner> runners(EngineOptions options) {
        return Stream.generate(() -> Models.runner(options, SimOptions.defaults()))
                .limit(2)
                .toList();
    }

    private static VirtualEngine engine(EngineOptions options, ViewAge age, RoutingPolicy routing) {
        return new VirtualEngine(
                runners(options), options, routing, age, (step, startNanos) -> startNanos + 1000, Observers.NONE);
    }

    private static String facts(RoutedRequest request) {
        return "tenant " + request.tenant() + ", priority " + request.priority() + ", tokens "
                + request.predictedNewTokens() + " of " + request.maxNewTokens();
    }

    private static final GenerationRequest DESCRIBED = Models.request(20, 1, 2)
            .withTenant("a")
            .withPriority(4)
            .withPredictedNewTokens(9)
            .withTarget(Duration.ofSeconds(5));

    @Test
    void policy_sees_tenant_priority_prediction_and_target_of_a_request() {
        List<String> seen = new ArrayList<>();
        RoutingPolicy policy = (request, replicas) -> {
            seen.add(facts(request) + ", due in " + (request.deadlineNanos() - request.arrivalNanos()));
            return 0;
        };
        try (Engine engine = Engine.open(
                runners(Models.options()),
                Optional.empty(),
                Models.options(),
                policy,
                Models.ticking(),
                Observers.NONE)) {
            engine.submit(DESCRIBED).completion();
        }
        VirtualEngine engine = engine(Models.options(), ViewAge.NONE, policy);
        var unused = engine.submit(DESCRIBED, 70);
        engine.runUntil(Long.MAX_VALUE);
        String expected = "tenant a, priority 4, tokens 9 of 20, due in 5000000000";
        assertThat(seen).containsExactly(expected, expected);
    }

    @Test
    void observer_sees_tenant_priority_and_target_of_a_request() {
        List<String> seen = new ArrayList<>();
        Observers observers = Observers.ofRequests(event -> {
            if (event instanceof RequestEvent.Accepted(ObservedRequest request)) {
                seen.add(request.tenant() + " " + request.priority() + " " + request.deadlineNanos());
            }
        });
        VirtualEngine engine = new VirtualEngine(
                runners(Models.options()),
                Models.options(),
                RoutingPolicy.pull(),
                ViewAge.NONE,
                (step, startNanos) -> startNanos + 1000,
                observers);
        var unused = engine.submit(DESCRIBED, 70);
        engine.runUntil(Long.MAX_VALUE);
        assertThat(seen).containsExactly("a 4 5000000070");
    }

    private static void assertMisuse(ViewAge age, RoutingPolicy policy, String seen) {
        VirtualEngine engine = engine(Models.options(), age, policy);
        assertThatThrownBy(() -> engine.submit(DESCRIBED, 70))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("the routing policy " + RoutingInputsTest.class.getName() + " " + seen)
                .hasMessageContaining("(RoutingInputsTest.java:");
    }

    @Test
    void policy_that_uses_prefixes_must_say_so() {
        String seen = "uses prefixes or cachedTokens without overriding usesPrefixes to return true";
        for (ViewAge age : List.of(ViewAge.NONE, new ViewAge(1, true))) {
            assertMisuse(age, (request, replicas) -> replicas.getFirst().cachedTokens(request), seen);
        }
        assertMisuse(ViewAge.NONE, (request, replicas) -> request.prefixes(), seen);
    }

    @Test
    void routed_request_cannot_be_used_after_its_call() {
        List<RoutedRequest> kept = new ArrayList<>();
        RoutingPolicy policy = (request, replicas) -> {
            kept.add(request);
            return kept.getFirst().promptTokens() - 1;
        };
        VirtualEngine engine = engine(Models.options(), ViewAge.NONE, policy);
        var unused = engine.submit(DESCRIBED, 70);
        assertThatThrownBy(() -> engine.submit(DESCRIBED, 70))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("uses a RoutedRequest after the call that it was passed to");
    }

    @Test
    void deadline_of_a_routed_request_is_the_earlier_of_deadline_and_target() {
        List<Long> seen = new ArrayList<>();
        VirtualEngine engine = engine(Models.options(), ViewAge.NONE, (request, replicas) -> {
            seen.add(request.deadlineNanos());
            return 0;
        });
        GenerationRequest plain = Models.request(1, 1);
        for (GenerationRequest each : List.of(
                plain,
                plain.withTarget(Duration.ofNanos(7000)),
                plain.withTarget(Duration.ofNanos(7000)).withDeadline(6000),
                plain.withTarget(Duration.ofNanos(7000)).withDeadline(8000),
                plain.withTimeout(Duration.ofNanos(4000)))) {
            var unused = engine.submit(each, 70);
        }
        engine.runUntil(Long.MAX_VALUE);
        assertThat(seen).containsExactly(PolicyRequest.NO_DEADLINE, 7070L, 6000L, 7070L, 4070L);
    }

    /** Chooses replica 1 for a request with less than half of its time left. */
    private static int urgentLast(RoutedRequest request, List<? extends ReplicaView> replicas) {
        return 2 * request.nowNanos() > request.arrivalNanos() + request.deadlineNanos() ? 1 : 0;
    }

    @Test
    void policy_sees_how_much_time_is_left_after_tokenizing() {
        AtomicLong nanos = new AtomicLong();
        AtomicLong tokenizeNanos = new AtomicLong();
        RequestObserver tokenizing = event -> {
            if (event instanceof RequestEvent.Accepted) {
                nanos.addAndGet(tokenizeNanos.get());
            }
        };
        List<Integer> replicas = new ArrayList<>();
        try (Engine engine = Engine.open(
                runners(Models.options()),
                Optional.empty(),
                Models.options(),
                RoutingInputsTest::urgentLast,
                nanos::incrementAndGet,
                Observers.ofRequests(tokenizing))) {
            for (long taken : List.of(0L, 700_000_000L)) {
                tokenizeNanos.set(taken);
                replicas.add(engine.submit(Models.request(2, 1).withTarget(Duration.ofSeconds(1)))
                        .completion()
                        .timeline()
                        .replica());
            }
        }
        assertThat(replicas).containsExactly(0, 1);
    }

    @Test
    void overlap_weight_of_dynamo_weighs_cached_prompts_against_held_blocks() {
        List<Integer> replicas = new ArrayList<>();
        for (double weight : List.of(0.0, 10.0)) {
            VirtualEngine engine = engine(Models.options(), ViewAge.NONE, RoutingPolicy.dynamo(weight));
            GenerationRequest same = Models.request(40, IntStream.range(0, 16).toArray());
            ObservedRequest first = engine.submit(same, 0);
            engine.runUntil(5000);
            ObservedRequest second = engine.submit(same, 5000);
            engine.runUntil(Long.MAX_VALUE);
            assertThat(first.timeline().replica()).isZero();
            replicas.add(second.timeline().replica());
        }
        assertThat(replicas).containsExactly(1, 0);
    }

    @Test
    void request_is_routed_at_its_arrival_in_virtual_time() {
        List<Long> seen = new ArrayList<>();
        VirtualEngine engine = engine(Models.options(), ViewAge.NONE, (request, replicas) -> {
            seen.add(request.nowNanos());
            return 0;
        });
        for (long nanos : List.of(70L, 5000L)) {
            engine.runUntil(nanos);
            var unused = engine.submit(Models.request(1, 1), nanos);
        }
        assertThat(seen).containsExactly(70L, 5000L);
    }

    /** A request without a prediction counts its maximum. */
    private static int leastPredicted(RoutedRequest request, List<? extends ReplicaView> replicas) {
        return replicas.indexOf(replicas.stream()
                .min(Comparator.comparingLong(ReplicaView::predictedTokens))
                .orElseThrow());
    }

    @Test
    void policy_that_predicts_lengths_balances_predicted_tokens() {
        for (ViewAge age : List.of(ViewAge.NONE, new ViewAge(500, true))) {
            VirtualEngine engine = engine(Models.options(), age, RoutingInputsTest::leastPredicted);
            List<ObservedRequest> requests = new ArrayList<>();
            for (int predicted : List.of(30, 2, 3, 20)) {
                requests.add(engine.submit(Models.request(40, 1).withPredictedNewTokens(predicted), 0));
            }
            requests.add(engine.submit(Models.request(40, 1), 0));
            List<Long> predicted =
                    engine.views().stream().map(ReplicaView::predictedTokens).toList();
            engine.runUntil(Long.MAX_VALUE);
            assertThat(requests)
                    .as("of age %s", age)
                    .extracting(request -> request.timeline().replica())
                    .containsExactly(0, 1, 1, 1, 1);
            assertThat(predicted).containsExactly(31L, 69L);
        }
    }

    @Test
    void prediction_above_the_maximum_counts_as_the_maximum() {
        VirtualEngine engine = engine(Models.options(), ViewAge.NONE, RoutingInputsTest::leastPredicted);
        var unused = engine.submit(Models.request(4, 1).withPredictedNewTokens(Integer.MAX_VALUE), 0);
        assertThat(engine.views()).extracting(ReplicaView::predictedTokens).containsExactly(5L, 0L);
    }

    @Test
    void predicted_tokens_are_gone_after_the_request() {
        VirtualEngine engine = engine(Models.options(), ViewAge.NONE, RoutingInputsTest::leastPredicted);
        var unused = engine.submit(Models.request(4, 1).withPredictedNewTokens(9), 0);
        engine.runUntil(Long.MAX_VALUE);
        assertThat(engine.views()).extracting(ReplicaView::predictedTokens).containsExactly(0L, 0L);
    }

    @Test
    void policy_sees_the_shared_queue_even_if_replicas_are_seen_late() {
        for (ViewAge age : List.of(ViewAge.NONE, new ViewAge(500, true), new ViewAge(500, false))) {
            List<String> seen = new ArrayList<>();
            VirtualEngine engine = engine(ONE_ACTIVE, age, (request, replicas) -> {
                ReplicaView any = replicas.getLast();
                seen.add(any.sharedRequests() + " " + any.sharedPredictedTokens() + " " + any.sharedPromptTokens());
                return RoutingPolicy.SHARED_QUEUE;
            });
            var unused = engine.submit(Models.request(9, 1), 0);
            unused = engine.submit(Models.request(9, 1), 0);
            engine.runUntil(10);
            unused = engine.submit(Models.request(9, 1, 2, 3).withPredictedNewTokens(5), 10);
            unused = engine.submit(Models.request(9, 1, 2, 3, 4), 10);
            unused = engine.submit(Models.request(9, 1), 10);
            engine.runUntil(Long.MAX_VALUE);
            unused = engine.submit(Models.request(9, 1), 1_000_000);
            engine.runUntil(Long.MAX_VALUE);
            assertThat(seen)
                    .as("of age %s", age)
                    .containsExactly("0 0 0", "1 10 1", "0 0 0", "1 8 3", "2 21 7", "0 0 0");
        }
    }

    @Test
    void policy_can_bind_requests_once_others_wait_for_any_replica() {
        List<Integer> seen = new ArrayList<>();
        RoutingPolicy policy = (request, replicas) -> {
            seen.add(replicas.getFirst().sharedRequests());
            return replicas.getFirst().sharedRequests() == 0 ? RoutingPolicy.SHARED_QUEUE : 1;
        };
        VirtualEngine engine = engine(ONE_ACTIVE, ViewAge.NONE, policy);
        List<ObservedRequest> requests = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            engine.runUntil(1 + i / 2 * 10L + i % 2);
            requests.add(engine.submit(Models.request(9, 1), 1 + i / 2 * 10L + i % 2));
        }
        engine.runUntil(Long.MAX_VALUE);
        assertThat(seen).containsExactly(0, 0, 0, 1);
        assertThat(requests.getLast().timeline().replica()).isEqualTo(1);
    }
}
