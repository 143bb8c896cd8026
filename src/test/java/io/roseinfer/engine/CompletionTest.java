package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CompletionTest {

    /** Uses a clock that only steps advance, by five milliseconds each. */
    @Test
    void time_to_first_token_runs_from_the_submit_call_to_the_end_of_the_step() {
        AtomicLong nowNanos = new AtomicLong(1_000_000_000);
        SimOptions sim = SimOptions.defaults().withOnStep(step -> nowNanos.addAndGet(5_000_000));
        EngineOptions options = Models.options();
        try (Engine engine = Engine.open(Models.runner(options, sim), Optional.empty(), options, nowNanos::get)) {
            Completion completion = engine.generate(Models.request(3, 1, 2));
            assertThat(completion.ttft()).contains(Duration.ofMillis(5));
        }
    }

    private static Completion cancelled(Optional<String> text) {
        RequestTimeline timeline = new RequestTimeline(1, 2, 3, new long[0], 3, new long[0], 0);
        return new Completion(
                new int[] {5, 7},
                List.of(),
                text,
                FinishReason.CANCELLED,
                Optional.empty(),
                0,
                timeline,
                Optional.empty(),
                List.of());
    }

    @Test
    void completions_with_equal_values_are_equal() {
        Completion completion = cancelled(Optional.of("and so"));
        assertThat(cancelled(Optional.of("and so"))).isEqualTo(completion).hasSameHashCodeAs(completion);
        assertThat(cancelled(Optional.of("and"))).isNotEqualTo(completion);
    }

    @Test
    void prompt_ids_are_copied() {
        int[] ids = {5, 7};
        RequestTimeline timeline = new RequestTimeline(1, 2, 3, new long[0], 3, new long[0], 0);
        Completion completion = new Completion(
                ids,
                List.of(),
                Optional.empty(),
                FinishReason.STOP,
                Optional.empty(),
                0,
                timeline,
                Optional.empty(),
                List.of());
        ids[0] = 9;
        completion.promptIds()[1] = 9;
        assertThat(completion.promptIds()).containsExactly(5, 7);
    }

    @Test
    void lists_are_copied() {
        List<GeneratedToken> tokens = new ArrayList<>(List.of(new GeneratedToken(1, "a", 0, List.of())));
        List<PromptToken> prompt = new ArrayList<>(List.of(new PromptToken(5, 0, 1, List.of())));
        Completion completion = new Completion(
                new int[] {5},
                tokens,
                Optional.empty(),
                FinishReason.STOP,
                Optional.empty(),
                0,
                new RequestTimeline(1, 2, 3, new long[0], 3, new long[0], 0),
                Optional.empty(),
                prompt);
        tokens.clear();
        prompt.clear();
        assertThat(completion.tokens()).hasSize(1);
        assertThat(completion.promptLogprobs()).hasSize(1);
    }

    @Test
    void time_to_first_token_is_empty_without_a_token() {
        assertThat(cancelled(Optional.empty()).ttft()).isEmpty();
    }

    @Test
    void text_form_shows_ids_and_text() {
        assertThat(cancelled(Optional.of("and so")))
                .hasToString("Completion[finishReason=CANCELLED, promptIds=[5, 7], text=and so]");
        assertThat(cancelled(Optional.empty()))
                .hasToString("Completion[finishReason=CANCELLED, promptIds=[5, 7], ids=[]]");
    }
}
