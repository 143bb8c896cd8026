package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RequestTimelineTest {
    private static RequestTimeline timeline(long firstTokenNanos) {
        return new RequestTimeline(1, 2, 3, new long[] {firstTokenNanos, 50}, 60, new long[] {7, 8}, 0);
    }

    @Test
    void timelines_with_equal_times_are_equal() {
        assertThat(timeline(40)).isEqualTo(timeline(40)).hasSameHashCodeAs(timeline(40));
        assertThat(timeline(41)).isNotEqualTo(timeline(40));
    }

    @Test
    void times_and_steps_are_copied() {
        long[] times = {40, 50};
        long[] steps = {7, 8};
        RequestTimeline timeline = new RequestTimeline(1, 2, 3, times, 60, steps, 0);
        times[0] = 0;
        steps[0] = 0;
        timeline.tokenNanos()[1] = 0;
        timeline.tokenSteps()[1] = 0;
        assertThat(timeline).isEqualTo(timeline(40));
        assertThat(timeline.firstTokenNanos()).isEqualTo(40);
        assertThat(timeline.tokens()).isEqualTo(2);
    }

    @Test
    void text_has_the_time_and_step_of_each_token() {
        assertThat(timeline(40).toString()).contains("tokenNanos=[40, 50]", "tokenSteps=[7, 8]", "finishedNanos=60");
    }
}
