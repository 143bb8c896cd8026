package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.JsonNodeFactory;

class OfferedLoadTest {
    private static final int PREFIX = 32;

    private static OfferedLoad load() {
        List<OfferedRequest> requests = new RandomPrompts(64, 8, 0.5, PREFIX, 256, 1).requests(40);
        return OfferedLoad.of(requests, new Arrivals(100, 1, 1));
    }

    private static int[] ids(OfferedRequest request) {
        return ((Prompt.Tokens) request.prompt()).ids();
    }

    @Test
    void other_prompts_keep_everything_else() {
        OfferedRequest request = OfferedRequest.of(7, new Prompt.Tokens(1), 5)
                .withConstraints(Optional.of(JsonNodeFactory.instance.objectNode()))
                .withTraits(OfferedRequest.Traits.NONE.withTenant("a"));
        Prompt other = new Prompt.Tokens(2);
        assertThat(new OfferedLoad(List.of(request), OfferedLoad.Pacing.SCHEDULED).withPrompts(prompt -> other))
                .isEqualTo(new OfferedLoad(List.of(request.withPrompt(other)), OfferedLoad.Pacing.SCHEDULED));
    }

    @Test
    void prompts_are_made_when_they_are_read() {
        List<OfferedRequest> requests = new ArrayList<>(load().requests());
        requests.addAll(new SyntheticTrace(64, 8, 1, 1)
                .trace(40)
                .replay(new Trace.Terms(8, 2000, 256, 1))
                .requests());
        for (OfferedRequest request : requests) {
            assertThat(request.prompt()).isEqualTo(request.prompt()).isNotSameAs(request.prompt());
            assertThat(request.promptTokens()).isEqualTo(ids(request).length);
        }
    }

    @Test
    void requests_due_later_are_left_out() {
        OfferedLoad load = OfferedLoad.every(
                1, Collections.nCopies(5, OfferedRequest.of(0, new Prompt.Tokens(1), 1)), OfferedLoad.Pacing.SCHEDULED);
        assertThat(load.dueBefore(3_000_000).requests())
                .extracting(OfferedRequest::dueNanos)
                .containsExactly(0L, 1_000_000L, 2_000_000L);
    }

    @Test
    void server_is_asked_for_the_maximum_tokens() {
        OfferedRequest request =
                OfferedRequest.of(7, new Prompt.Tokens(1), 5).withTraits(OfferedRequest.Traits.NONE.withMaxTokens(9));
        OfferedLoad load = new OfferedLoad(List.of(request), OfferedLoad.Pacing.BURST);
        assertThat(load.upToMaxTokens().requests()).containsExactly(request.withOutputTokens(9));
    }

    @Test
    void replaced_ids_keep_times_and_lengths() {
        OfferedLoad load = load();
        OfferedLoad other = load.withOtherIds(7);
        assertThat(other.isScheduled()).isEqualTo(load.isScheduled());
        assertThat(other.requests()).hasSameSizeAs(load.requests());
        for (int i = 0; i < load.requests().size(); i++) {
            OfferedRequest before = load.requests().get(i);
            OfferedRequest after = other.requests().get(i);
            assertThat(after.dueNanos()).isEqualTo(before.dueNanos());
            assertThat(after.outputTokens()).isEqualTo(before.outputTokens());
            assertThat(after.promptTokens()).isEqualTo(before.promptTokens());
        }
    }

    @Test
    void replaced_ids_keep_shared_prefixes_among_themselves() {
        OfferedLoad load = load();
        OfferedLoad other = load.withOtherIds(7);
        int[] shared = Arrays.copyOf(ids(other.requests().getFirst()), PREFIX);
        for (OfferedRequest request : other.requests()) {
            assertThat(Arrays.copyOf(ids(request), PREFIX)).isEqualTo(shared);
        }
        for (int i = 0; i < load.requests().size(); i++) {
            int[] before = ids(load.requests().get(i));
            int[] after = ids(other.requests().get(i));
            assertThat(Arrays.mismatch(before, after)).isLessThan(8);
            assertThat(Arrays.stream(after)).allMatch(id -> id >= 0 && id < 256);
        }
    }

    @Test
    void replaced_ids_depend_on_the_key() {
        assertThat(ids(load().withOtherIds(7).requests().getLast()))
                .isEqualTo(ids(load().withOtherIds(7).requests().getLast()))
                .isNotEqualTo(ids(load().withOtherIds(8).requests().getLast()));
    }

    @Test
    void fractional_millisecond_interval_does_not_drift() {
        List<OfferedRequest> requests = Collections.nCopies(1_000_004, OfferedRequest.of(0, new Prompt.Tokens(1), 1));
        assertThat(OfferedLoad.every(0.1, requests, OfferedLoad.Pacing.SCHEDULED)
                        .spanNanos())
                .isEqualTo(100_000_300_000L);
    }
}
