package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.bench.load.OfferedRequest.Turn;
import io.roseinfer.engine.Prompt;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ConversationsTest {
    private static final RandomPrompts PROMPTS = new RandomPrompts(10, 5, 0, 4, 256, 3);

    private static List<OfferedRequest> conversations(double turns, long seed) {
        List<Tenant> tenants = List.of(Tenant.parse("--tenant", "a"), Tenant.parse("--tenant", "b:share=3,input=20"));
        return new Conversations(turns, 2, 4, seed).of(PROMPTS.requests(2000, tenants));
    }

    @Test
    void requests_are_joined_and_none_is_lost() {
        List<OfferedRequest> joined = conversations(4, 1);
        OfferedLoad load = new OfferedLoad(joined, OfferedLoad.Pacing.BURST);
        assertThat(load.size()).isEqualTo(2000);
        assertThat(2000.0 / joined.size()).isCloseTo(4, within(0.4));
        assertThat(load.hasConversations()).isTrue();
        assertThat(joined).isEqualTo(conversations(4, 1)).isNotEqualTo(conversations(4, 2));
    }

    @Test
    void turns_are_of_one_tenant_and_numbered() {
        for (OfferedRequest first : conversations(4, 1)) {
            List<OfferedRequest> turns = first.turns().toList();
            assertThat(turns.stream().map(turn -> turn.traits().tenant()).distinct())
                    .hasSize(1);
            for (int i = 0; i < turns.size(); i++) {
                assertThat(turns.get(i).traits().turn()).hasValue(i);
            }
        }
    }

    /** First turns have the shared prefix of four ids; a later turn follows the whole previous prompt, so it has none. */
    @Test
    void only_first_turns_have_the_prefix() {
        for (OfferedRequest first : conversations(4, 1)) {
            int own = first.traits().tenant().equals(Optional.of("a")) ? 10 : 20;
            assertThat(first.turns().map(OfferedRequest::promptTokens).skip(1)).allMatch(tokens -> tokens == own);
            assertThat(first.promptTokens()).isEqualTo(own + 4);
        }
    }

    @Test
    void think_times_have_the_mean() {
        double mean = conversations(4, 1).stream()
                .flatMap(OfferedRequest::turns)
                .flatMap(turn -> turn.next().stream())
                .mapToLong(Turn::thinkNanos)
                .average()
                .orElse(0);
        assertThat(mean).isCloseTo(2e9, within(0.2e9));
    }

    @Test
    void prompt_of_a_turn_is_the_previous_prompt_and_answer_and_its_own() {
        OfferedRequest turn = OfferedRequest.of(0, new Prompt.Tokens(new int[] {5, 6}), 1);
        assertThat(turn.after(new int[] {1, 2}, new int[] {3}).prompt())
                .isEqualTo(new Prompt.Tokens(new int[] {1, 2, 3, 5, 6}));
    }

    @Test
    void changes_of_a_load_reach_all_turns() {
        OfferedLoad load = new OfferedLoad(conversations(4, 1), OfferedLoad.Pacing.BURST);
        OfferedLoad other = load.withPrompts(prompt -> new Prompt.Tokens(new int[] {7}));
        assertThat(other.turns()).hasSize(2000).allMatch(turn -> turn.promptTokens() == 1);
        assertThat(other.turns().map(OfferedRequest::traits).toList())
                .isEqualTo(load.turns().map(OfferedRequest::traits).toList());
    }
}
