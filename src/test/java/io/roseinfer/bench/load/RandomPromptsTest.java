package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.Prompt;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RandomPromptsTest {
    private static final RandomPrompts PROMPTS = new RandomPrompts(100, 40, 0.5, 16, 256, 3);

    private static int[] ids(OfferedRequest request) {
        return ((Prompt.Tokens) request.prompt()).ids();
    }

    private static List<List<Integer>> all(List<OfferedRequest> requests) {
        return requests.stream()
                .map(request -> Arrays.stream(ids(request)).boxed().toList())
                .toList();
    }

    @Test
    void lengths_are_uniform_in_their_range() {
        List<OfferedRequest> requests = PROMPTS.requests(4000);
        assertThat(requests).allSatisfy(request -> {
            assertThat(ids(request).length - 16).isBetween(50, 150);
            assertThat(request.outputTokens()).isBetween(20, 60);
        });
        assertThat(requests.stream()
                        .mapToInt(request -> ids(request).length)
                        .distinct()
                        .count())
                .isEqualTo(101);
        assertThat(requests.stream()
                        .mapToInt(OfferedRequest::outputTokens)
                        .average()
                        .orElseThrow())
                .isBetween(39.0, 41.0);
    }

    @Test
    void prompts_share_only_the_prefix() {
        List<OfferedRequest> requests = PROMPTS.requests(100);
        assertThat(requests.stream()
                        .map(request -> Arrays.hashCode(Arrays.copyOf(ids(request), 16)))
                        .distinct())
                .hasSize(1);
        assertThat(requests.stream()
                        .map(request -> Arrays.hashCode(Arrays.copyOfRange(ids(request), 16, 24)))
                        .distinct())
                .hasSize(100);
    }

    @Test
    void ids_are_spread_over_the_vocabulary() {
        int[] counts = new int[256];
        PROMPTS.requests(1000)
                .forEach(request -> IntStream.of(ids(request)).skip(16).forEach(id -> counts[id]++));
        assertThat(IntStream.of(counts).min().orElseThrow()).isGreaterThan(250);
        assertThat(IntStream.of(counts).max().orElseThrow()).isLessThan(550);
    }

    @Test
    void requests_depend_on_the_seed() {
        assertThat(all(PROMPTS.requests(50))).isEqualTo(all(new RandomPrompts(100, 40, 0.5, 16, 256, 3).requests(50)));
        assertThat(all(PROMPTS.requests(50)))
                .doesNotContainAnyElementsOf(all(new RandomPrompts(100, 40, 0.5, 16, 256, 4).requests(50)));
    }

    @Test
    void warm_up_requests_have_equal_lengths_and_different_prompts() {
        OfferedRequest request = PROMPTS.requests(1).getFirst();
        OfferedRequest warmUp = request.withOtherIds(99);
        assertThat(ids(warmUp)).hasSameSizeAs(ids(request));
        assertThat(Arrays.copyOf(ids(warmUp), 16)).isNotEqualTo(Arrays.copyOf(ids(request), 16));
    }
}
