package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkloadTest {
    private static final Workload WORKLOAD =
            Workload.of(List.of("a", "bb", "a"), GenerationRequest.of("-").withMaxNewTokens(5));

    @Test
    void of_texts_keeps_everything_but_the_prompt() {
        assertThat(WORKLOAD.requests())
                .allSatisfy(request -> assertThat(request.maxNewTokens()).isEqualTo(5));
        assertThat(WORKLOAD.requests().get(1).prompt()).isEqualTo(new Prompt.Text("bb"));
    }

    @Test
    void pretokenized_texts_become_their_ids() {
        List<int[]> ids = WORKLOAD.pretokenized(text -> new int[] {text.length()}).requests().stream()
                .map(request -> ((Prompt.Tokens) request.prompt()).ids())
                .toList();
        assertThat(ids).containsExactly(new int[] {1}, new int[] {2}, new int[] {1});
    }

    @Test
    void pretokenized_same_text_is_tokenized_once() {
        List<String> seen = new ArrayList<>();
        WORKLOAD.pretokenized(text -> {
            seen.add(text);
            return new int[] {1};
        });
        assertThat(seen).containsExactly("a", "bb");
    }
}
