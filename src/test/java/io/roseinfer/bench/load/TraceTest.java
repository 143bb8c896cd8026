package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.Prompt;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TraceTest {
    private static final Trace.Terms TERMS = new Trace.Terms(10, 1_000_000, 256, 4);

    private static TraceEntry entry(long offset, int input, int output, Long... hashes) {
        return new TraceEntry(offset, input, output, List.of(hashes), 16, Optional.empty());
    }

    private static int[] ids(OfferedRequest request) {
        return ((Prompt.Tokens) request.prompt()).ids();
    }

    @Test
    void prompts_have_recorded_lengths_and_shared_prefixes() {
        Trace trace = Trace.of(
                List.of(entry(0, 40, 3, 1L, 2L, 3L), entry(5, 40, 3, 1L, 2L, 9L), entry(9, 40, 3, 7L, 2L, 3L)),
                true,
                0);
        List<OfferedRequest> requests = trace.replay(TERMS).requests();
        assertThat(requests).allSatisfy(request -> assertThat(ids(request)).hasSize(40));
        int[] first = ids(requests.get(0));
        assertThat(Arrays.copyOf(ids(requests.get(1)), 32)).isEqualTo(Arrays.copyOf(first, 32));
        assertThat(Arrays.copyOfRange(ids(requests.get(1)), 32, 40)).isNotEqualTo(Arrays.copyOfRange(first, 32, 40));
        assertThat(Arrays.copyOf(ids(requests.get(2)), 16)).isNotEqualTo(Arrays.copyOf(first, 16));
        assertThat(Arrays.copyOfRange(ids(requests.get(2)), 16, 40)).isEqualTo(Arrays.copyOfRange(first, 16, 40));
    }

    @Test
    void prompts_without_hashes_share_nothing() {
        Trace trace = Trace.of(List.of(TraceEntry.ofLengths(0, 50, 3), TraceEntry.ofLengths(1, 50, 3)), true, 0);
        List<OfferedRequest> requests = trace.replay(TERMS).requests();
        assertThat(Arrays.copyOf(ids(requests.get(0)), 8)).isNotEqualTo(Arrays.copyOf(ids(requests.get(1)), 8));
    }

    @Test
    void clipped_requests_are_counted() {
        Trace trace = Trace.of(
                List.of(entry(0, 2000, 500), entry(1, 900, 500), entry(2, 100, 5), TraceEntry.ofLengths(3, 7, 0)),
                true,
                3);
        Trace.Replay replay = trace.replay(new Trace.Terms(64, 1024, 256, 0));
        assertThat(replay.requests().stream().map(OfferedRequest::promptTokens)).containsExactly(1023, 900, 100, 7);
        assertThat(replay.requests().stream().map(OfferedRequest::outputTokens)).containsExactly(1, 124, 5, 64);
        assertThat(replay.counts())
                .isEqualTo(Map.of(
                        "requests", 4L,
                        "left_out", 3L,
                        "clipped_prompts", 1L,
                        "clipped_prompt_tokens", 977L,
                        "clipped_outputs", 2L,
                        "clipped_output_tokens", 875L));
        assertThat(replay.changes())
                .isEqualTo(
                        "3 recorded requests are left out: they had failed or were empty; 1 prompts are clipped, by 977 tokens"
                                + " in total; 2 completions are clipped, by 875 tokens in total");
    }

    @Test
    void trace_within_the_limits_is_unchanged() {
        assertThat(Trace.of(List.of(entry(0, 20, 5)), true, 0).replay(TERMS).changes())
                .isEmpty();
    }

    @Test
    void times_start_at_zero_in_order_and_are_divided_by_the_speed() {
        Trace trace = Trace.of(List.of(entry(9_000, 5, 1), entry(1_000, 6, 1), entry(3_000, 7, 1)), true, 0);
        OfferedLoad load = OfferedLoad.ofTrace(trace.replay(TERMS).requests(), 2);
        assertThat(load.requests().stream().map(OfferedRequest::dueNanos)).containsExactly(0L, 1_000L, 4_000L);
        assertThat(load.requests().stream().map(OfferedRequest::promptTokens)).containsExactly(6, 7, 5);
        assertThat(load.isScheduled()).isTrue();
    }

    @Test
    void synthetic_trace_has_one_request_per_second_and_growing_conversations() {
        Trace trace = new SyntheticTrace(60, 40, 1, 11).trace(4000);
        assertThat(trace.entries()).hasSize(4000);
        double seconds = trace.entries().getLast().offsetNanos() / 1e9;
        assertThat(4000 / seconds).isBetween(0.9, 1.1);
        long followed = IntStream.range(0, 4000)
                .filter(i -> trace.entries().get(i).inputTokens() > 256 + 60 * 5)
                .count();
        assertThat(followed).as("prompts that only later turns reach").isPositive();
        Map<Long, Long> firsts = trace.entries().stream()
                .collect(java.util.stream.Collectors.groupingBy(
                        entry -> entry.blockHashes().getFirst(), java.util.stream.Collectors.counting()));
        assertThat(firsts).hasSize(16);
        double most = firsts.getOrDefault(0L, 0L) / 4000.0;
        assertThat(most).as("the first of 16 by Zipf's law: 0.296").isBetween(0.25, 0.35);
    }

    @Test
    void synthetic_trace_is_a_prefix_of_any_longer_one() {
        List<TraceEntry> many = new SyntheticTrace(60, 40, 0.5, 3).trace(300).entries();
        List<TraceEntry> few = new SyntheticTrace(60, 40, 0.5, 3).trace(100).entries();
        assertThat(few).isEqualTo(many.subList(0, 100));
    }
}
