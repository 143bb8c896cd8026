package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepLog;
import io.roseinfer.scheduler.SchedulerOptions;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of an engine's step records, with a clock that ticks once per reading. */
class StepRecordsTest {
    private static final int REQUESTS = 6;
    private static final int PROMPT = 9;
    private static final int NEW_TOKENS = 5;

    private int newTokens = NEW_TOKENS;
    private final StepLog log = new StepLog(1000);

    private LoneLoop loop(EngineOptions options, SimOptions sim) {
        SimRunner runner = Models.runner(options, sim);
        return new LoneLoop(runner, options, Models.ticking(), Observers.ofSteps(log));
    }

    /** Returns requests whose prompts share their first eight tokens, two blocks. */
    private GenerationRequest request(int i) {
        int[] prompt = IntStream.range(0, PROMPT).toArray();
        prompt[PROMPT - 1] = 100 + i;
        return Models.request(newTokens, prompt);
    }

    private List<StepRecord> run(EngineOptions options, SimOptions sim) {
        LoneLoop loop = loop(options, sim);
        for (int i = 0; i < REQUESTS; i++) {
            GenerationRequest request = request(i);
            LiveRequest live = new LiveRequest(i, request, 0, Models.CONTEXT, Optional.empty());
            int[] prompt = ((Prompt.Tokens) request.prompt()).own();
            live.tokenized(prompt.length, 0);
            loop.submit(live, prompt);
        }
        while (loop.hasWork()) {
            loop.doWork();
        }
        return log.steps();
    }

    private static long sum(List<StepRecord> steps, Fact fact) {
        return steps.stream().mapToLong(step -> step.get(fact)).sum();
    }

    @Test
    void every_token_attends_to_itself_and_its_predecessors() {
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder().prefixCache(false).build());
        int computed = PROMPT + NEW_TOKENS - 1;
        assertThat(sum(run(options, SimOptions.defaults()), Fact.ATTENDED))
                .isEqualTo((long) REQUESTS * computed * (computed + 1) / 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void steps_are_numbered_and_every_phase_takes_time(int maxInFlight) {
        List<StepRecord> steps = run(Models.options(), SimOptions.defaults().withMaxInFlight(maxInFlight));
        assertThat(steps).isNotEmpty();
        for (int i = 0; i < steps.size(); i++) {
            StepRecord step = steps.get(i);
            assertThat(step.get(Fact.STEP)).isEqualTo(i);
            assertThat(step.get(Fact.DEVICE_NANOS))
                    .isGreaterThanOrEqualTo(step.get(Fact.SUBMIT_NANOS) + step.get(Fact.WAIT_NANOS));
            assertThat(Arrays.stream(Fact.values()).filter(Fact::isDuration))
                    .as("phases of %s", step)
                    .hasSize(6)
                    .allMatch(phase -> step.get(phase) > 0);
        }
    }

    @Test
    void steps_with_one_in_flight_do_not_overlap() {
        List<StepRecord> steps = run(Models.options(), SimOptions.defaults());
        for (int i = 1; i < steps.size(); i++) {
            assertThat(steps.get(i).get(Fact.START_NANOS))
                    .isGreaterThan(steps.get(i - 1).endNanos());
        }
    }

    @Test
    void at_most_two_steps_are_in_flight() {
        List<StepRecord> steps = run(Models.options(), SimOptions.defaults().withMaxInFlight(2));
        assertThat(steps.get(1).get(Fact.START_NANOS)).isLessThan(steps.get(0).endNanos());
        for (int i = 2; i < steps.size(); i++) {
            assertThat(steps.get(i).get(Fact.START_NANOS))
                    .isGreaterThan(steps.get(i - 2).endNanos());
        }
    }

    @Test
    void steps_account_for_every_token() {
        List<StepRecord> steps = run(Models.options(), SimOptions.defaults());
        long cached = sum(steps, Fact.CACHED_TOKENS);
        assertThat(cached).as("two blocks of four, all but once").isEqualTo(8 * (REQUESTS - 1));
        assertThat(sum(steps, Fact.PREFILL_TOKENS)).isEqualTo(PROMPT * REQUESTS - cached);
        assertThat(sum(steps, Fact.DECODE_ROWS))
                .as("a request's first token comes from its prefill")
                .isEqualTo(REQUESTS * (NEW_TOKENS - 1));
        StepRecord last = steps.getLast();
        // The first request was a step ahead, because the others waited to share its blocks.
        assertThat(steps.getFirst().get(Fact.WAITING)).isEqualTo(REQUESTS - 1);
        assertThat(last.get(Fact.ACTIVE)).isEqualTo(REQUESTS - 1);
        assertThat(last.get(Fact.WAITING)).isZero();
        // Two shared blocks, and two more per request.
        assertThat(last.get(Fact.FREE_BLOCKS)).isEqualTo(200 - 2 - 2 * (REQUESTS - 1));
    }

    @Test
    void steps_count_preemptions() {
        newTokens = 40;
        List<StepRecord> steps = run(
                Models.options()
                        .withKvBlocks(20)
                        .withScheduler(
                                SchedulerOptions.builder().prefixCache(false).build()),
                SimOptions.defaults());
        assertThat(sum(steps, Fact.PREEMPTIONS)).isPositive();
    }

    /**
     * Without a prefix cache a request of p prompt tokens and n new ones computes p + n - 1, so all further ones were
     * recomputed.
     */
    @Test
    void recomputed_tokens_are_those_beyond_the_need_of_the_requests() {
        newTokens = 40;
        List<StepRecord> steps = run(
                Models.options()
                        .withKvBlocks(20)
                        .withScheduler(
                                SchedulerOptions.builder().prefixCache(false).build()),
                SimOptions.defaults());
        assertThat(sum(steps, Fact.RECOMPUTED_TOKENS))
                .isPositive()
                .isEqualTo(sum(steps, Fact.TOKENS) - (long) REQUESTS * (PROMPT + newTokens - 1));
    }

    @Test
    void lost_step_is_recorded() {
        List<StepRecord> steps = run(Models.options(), SimOptions.defaults().withOnStep(step -> {
            if (step == 0) {
                throw new DeviceFailure("step lost", true);
            }
        }));
        assertThat(steps.getFirst().get(Fact.STEP)).isZero();
        assertThat(steps.getFirst().get(Fact.PREFILL_TOKENS)).isEqualTo(PROMPT);
    }

    @Test
    void completion_reports_cached_tokens() {
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults())) {
            assertThat(engine.generate(request(0)).cachedTokens()).isZero();
            assertThat(engine.generate(request(1)).cachedTokens()).isEqualTo(8);
            assertThat(engine.stats().total(Fact.CACHED_TOKENS)).isEqualTo(8);
        }
    }

    @Test
    void engine_keeps_as_many_step_records_as_configured() {
        try (Engine engine = Models.engine(Models.options().withStepHistory(3), SimOptions.defaults())) {
            assertThat(engine.generate(Models.request(8, 1)).ids()).hasSize(8);
            assertThat(engine.steps()).hasSizeLessThanOrEqualTo(3);
            assertThat(engine.steps().getLast().get(Fact.STEP)).isGreaterThanOrEqualTo(6);
        }
    }

    @Test
    void flight_recording_has_steps_and_requests_of_an_engine_but_not_of_a_warm_up(@TempDir Path folder)
            throws Exception {
        Path file = folder.resolve("run.jfr");
        long steps;
        try (Recording recording = new Recording()) {
            recording.enable("roseinfer.Step").withoutThreshold();
            recording.enable("roseinfer.Request").withoutThreshold();
            recording.start();
            EngineWarmUp.run(
                    Models.runner(Models.options(), SimOptions.defaults()),
                    Models.options(),
                    Models.ticking(),
                    1,
                    Observers.NONE);
            Engine engine = Models.engine(Models.options(), SimOptions.defaults());
            try (engine) {
                assertThat(engine.generate(request(0)).ids()).hasSize(NEW_TOKENS);
                assertThat(engine.generate(request(1)).ids()).hasSize(NEW_TOKENS);
            }
            steps = engine.steps().size();
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        List<RecordedEvent> recorded = named(events, "roseinfer.Step");
        assertThat(recorded).hasSize((int) steps);
        assertThat(recorded.stream()
                        .mapToLong(event -> event.getLong("decodeRows"))
                        .sum())
                .isEqualTo(2 * (NEW_TOKENS - 1));
        assertThat(named(events, "roseinfer.Request"))
                .extracting(
                        event -> event.getInt("promptTokens"),
                        event -> event.getInt("cachedTokens"),
                        event -> event.getInt("completionTokens"),
                        event -> event.getString("finishReason"))
                .containsExactly(tuple(PROMPT, 0, NEW_TOKENS, "length"), tuple(PROMPT, 8, NEW_TOKENS, "length"));
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }
}
