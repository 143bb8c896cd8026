package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RequestTimelineTest {
    @Test
    void text_has_the_time_and_step_of_each_token() {
        RequestTimeline timeline = new RequestTimeline(1, 2, 3, new long[] {40, 50}, 60, new long[] {7, 8}, 0);
        assertThat(timeline.toString()).contains("tokenNanos=[40, 50]", "tokenSteps=[7, 8]", "finishedNanos=60");
    }
}
