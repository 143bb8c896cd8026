package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A new observer is one class, {@link Witness}, passed to the engine; it is called at every event, in order. */
class ObserversTest {
    /** Records events: the name, with the number of the step or request. */
    private static final class Witness implements StepObserver, RequestObserver {
        private final List<String> events = Collections.synchronizedList(new ArrayList<>());

        private void request(String event, ObservedRequest request) {
            events.add(event + " request " + request.id());
        }

        /** Returns the events since the last call. */
        private List<String> take() {
            List<String> taken = List.copyOf(events);
            events.clear();
            return taken;
        }

        @Override
        public void on(StepEvent event, StepRecord step) {
            String name = event.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            switch (event) {
                case PLANNED, PACKED, SUBMITTED, AWAITING, AWAITED, APPLIED ->
                    events.add(name + " " + step.get(Fact.STEP));
                // The record may still have the number of an earlier step, or belongs to no step.
                default -> events.add(name);
            }
        }

        @Override
        public void on(RequestEvent event) {
            switch (event) {
                case RequestEvent.Submitting() -> events.add("submitting");
                case RequestEvent.Submitted() -> events.add("submitted");
                case RequestEvent.Accepted(ObservedRequest request) -> request("accepted", request);
                case RequestEvent.Withdrawn(ObservedRequest request) -> request("withdrawn", request);
                case RequestEvent.GrammarCompiled(ObservedRequest request, long _) ->
                    request("grammar compiled", request);
                case RequestEvent.Tokenized(ObservedRequest request) -> request("tokenized", request);
                case RequestEvent.Admitted(ObservedRequest request) -> request("admitted", request);
                case RequestEvent.Ended(ObservedRequest request, FinishReason reason) ->
                    request(reason + " ended", request);
            }
        }
    }

    private final Witness witness = new Witness();

    private LoneLoop loop(SimOptions sim, int newTokens, int... prompts) {
        SchedulerOptions one = SchedulerOptions.builder().prefillMaxBatchSize(1).build();
        EngineOptions options = Models.options().withScheduler(one);
        SimRunner runner = Models.runner(options, sim);
        LoneLoop loop = new LoneLoop(
                runner,
                EngineOptions.defaults().withScheduler(one),
                Models.ticking(),
                Observers.ofRequests(witness).and(Observers.ofSteps(witness)));
        for (int i = 0; i < prompts.length; i++) {
            GenerationRequest request = Models.request(newTokens, prompts[i]);
            LiveRequest live = new LiveRequest(i, request, 0, Models.CONTEXT, Optional.empty());
            int[] prompt = ((Prompt.Tokens) request.prompt()).own();
            live.tokenized(prompt.length, 0);
            loop.submit(live, prompt);
        }
        return loop;
    }

    private List<String> runIteration(LoneLoop loop) {
        loop.doWork();
        return witness.take();
    }

    @Test
    void iteration_with_one_step_in_flight_reports_the_step_from_planning_to_applied() {
        LoneLoop loop = loop(SimOptions.defaults(), 2, 5);
        assertThat(runIteration(loop))
                .containsExactly(
                        "iteration started",
                        "planning",
                        "admitting",
                        "admitted",
                        "planned 0",
                        "admitted request 0",
                        "packed 0",
                        "submitted 0",
                        "delivering",
                        "delivered",
                        "awaiting 0",
                        "awaited 0",
                        "applied 0",
                        "iteration ended");
        assertThat(runIteration(loop))
                .containsExactly(
                        "iteration started",
                        "planning",
                        "planned 1",
                        "packed 1",
                        "submitted 1",
                        "delivering",
                        "delivered",
                        "awaiting 1",
                        "awaited 1",
                        "applied 1",
                        "iteration ended");
        assertThat(runIteration(loop))
                .containsExactly(
                        "iteration started",
                        "planning",
                        "idle",
                        "delivering",
                        "LENGTH ended request 0",
                        "delivered",
                        "iteration ended");
        assertThat(loop.hasWork()).isFalse();
    }

    @Test
    void second_step_in_flight_is_submitted_before_the_first_is_awaited() {
        LoneLoop loop = loop(SimOptions.defaults().withMaxInFlight(2), 2, 5, 6);
        assertThat(runIteration(loop))
                .containsSubsequence(
                        "submitted 0", "planning", "planned 1", "packed 1", "submitted 1", "awaiting 0", "applied 0");
        assertThat(runIteration(loop))
                .containsSubsequence("planned 2", "submitted 2", "awaiting 1", "awaited 1", "applied 1");
    }

    @Test
    void lost_step_is_awaited_and_applied_and_its_requests_end() {
        SimOptions losing = SimOptions.defaults().withOnStep(step -> {
            throw new DeviceFailure("step lost", true);
        });
        assertThat(runIteration(loop(losing, 2, 5)))
                .containsSubsequence(
                        "submitted 0",
                        "awaiting 0",
                        "awaited 0",
                        "applied 0",
                        "ERROR ended request 0",
                        "delivering",
                        "delivered",
                        "iteration ended");
    }

    @Test
    void failed_iteration_still_reports_its_end() {
        SimOptions failing = SimOptions.defaults().withOnStep(step -> {
            throw new DeviceFailure("gone", false);
        });
        LoneLoop loop = loop(failing, 2, 5);
        assertThatThrownBy(loop::doWork).hasMessage("gone");
        assertThat(witness.take()).endsWith("awaiting 0", "iteration ended");
    }

    @Test
    void step_record_has_the_facts_known_at_each_event() {
        List<Long> rows = new ArrayList<>();
        List<Boolean> timed = new ArrayList<>();
        StepObserver reader = (event, step) -> {
            switch (event) {
                case PLANNED -> {
                    rows.add(step.get(Fact.ROWS));
                    timed.add(step.get(Fact.START_NANOS) > 0 && step.get(Fact.PLAN_NANOS) > 0);
                }
                case PACKED -> timed.add(step.get(Fact.PACK_NANOS) > 0);
                case APPLIED -> timed.add(step.get(Fact.APPLY_NANOS) > 0);
                default -> {}
            }
        };
        OnlineScheduler online = new OnlineScheduler(
                Models.runner(Models.options(), SimOptions.defaults()),
                SchedulerOptions.defaults(),
                Models.ticking(),
                1,
                Observers.ofSteps(reader));
        for (int i = 0; i < 3; i++) {
            online.enqueue(new int[] {i}, 1, SamplingParams.greedy(), 0, true);
        }
        online.step();
        assertThat(rows).containsExactly(3L);
        assertThat(timed).containsExactly(true, true, true);
    }

    private Engine engine() {
        return Engine.open(
                Models.runner(Models.options(), SimOptions.defaults()),
                Optional.empty(),
                Models.options(),
                Models.ticking(),
                Observers.ofRequests(witness).and(Observers.ofSteps(witness)));
    }

    @Test
    void requests_are_observed_from_submission_to_their_end() {
        try (Engine engine = engine()) {
            assertThat(engine.generate(Models.request(2, 5)).ids()).hasSize(2);
            assertThat(engine.generate(Models.request(2, 6)).ids()).hasSize(2);
        }
        List<String> events = witness.take();
        for (int request = 0; request < 2; request++) {
            String name = " request " + request;
            assertThat(events.stream().filter(event -> event.endsWith(name)))
                    .containsExactly("accepted" + name, "tokenized" + name, "admitted" + name, "LENGTH ended" + name);
        }
        assertThat(events.stream().filter(event -> event.startsWith("submitt") && !event.contains(" ")))
                .containsExactly("submitting", "submitted", "submitting", "submitted");
        assertThat(events.indexOf("LENGTH ended request 0"))
                .as("the reader is notified after the observers")
                .isLessThan(events.lastIndexOf("submitting"));
    }

    @Test
    void request_is_counted_before_its_reader_is_notified() {
        try (Engine engine = engine()) {
            for (int request = 1; request <= 200; request++) {
                assertThat(engine.generate(Models.request(2, 5)).ids()).hasSize(2);
                RequestCounts counts = engine.stats().requests();
                assertThat(counts.ended()).containsEntry(FinishReason.LENGTH, (long) request);
                assertThat(counts.generatedTokens()).isEqualTo(2L * request);
            }
        }
    }

    @Test
    void request_that_cannot_be_served_is_withdrawn_without_an_outcome() {
        try (Engine engine = engine()) {
            assertThatThrownBy(() -> engine.submit(Models.request(2, Models.VOCABULARY)))
                    .isInstanceOf(BadInput.class);
        }
        assertThat(witness.take())
                .containsSubsequence("submitting", "accepted request 0", "withdrawn request 0", "submitted")
                .noneMatch(event -> event.contains("ended request"));
    }

    @Test
    void observer_that_throws_at_every_end_leaves_no_request_without_an_end() {
        RequestObserver throwing = event -> {
            if (event instanceof RequestEvent.Ended) {
                throw new IllegalStateException("mine");
            }
        };
        LoneLoop loop = new LoneLoop(
                Models.runner(Models.options(), SimOptions.defaults()),
                Models.options(),
                Models.ticking(),
                Observers.ofRequests(throwing));
        List<LiveRequest> requests = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            GenerationRequest request = Models.request(9, i);
            LiveRequest live = new LiveRequest(i, request, 0, Models.CONTEXT, Optional.empty());
            int[] prompt = ((Prompt.Tokens) request.prompt()).own();
            live.tokenized(prompt.length, 0);
            loop.submit(live, prompt);
            requests.add(live);
        }
        loop.doWork();
        loop.endAll(RequestOutcome.CANCELLED);
        assertThat(requests).allMatch(live -> live.tokens().isEnded());
    }

    @Test
    void steps_of_each_replica_are_observed() {
        List<List<Long>> steps = List.of(new ArrayList<>(), new ArrayList<>());
        List<SimRunner> runners = Stream.of(SimOptions.defaults(), SimOptions.defaults())
                .map(sim -> Models.runner(Models.options(), sim))
                .toList();
        Observers each = Observers.ofStepsOfEach(replica -> (event, step) -> {
            if (event == StepEvent.APPLIED) {
                steps.get(replica).add(step.get(Fact.ENGINE));
            }
        });
        try (Engine engine = Engine.open(
                runners, Optional.empty(), Models.options(), RoutingPolicy.roundRobin(), Models.ticking(), each)) {
            engine.generate(Models.request(2, 5));
            engine.generate(Models.request(2, 6));
        }
        assertThat(steps).containsExactly(List.of(0L, 0L), List.of(1L, 1L));
    }
}
