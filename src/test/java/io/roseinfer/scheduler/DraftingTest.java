package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.Drafter;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DraftingTest {
    private static final int MAX_STEPS = 1000;

    /** Returns the first step with drafts of a request whose steps wait for them. */
    private static int firstDrafts(Drafter drafter, int... prompt) {
        Sequence sequence = new Sequence(0, "", prompt, prompt.length + 100, SamplingParams.greedy(), 0, new int[0]);
        Drafting drafting = new Drafting(drafter, sequence, new DraftCost(16), 50_000);
        int step = 0;
        while (step < MAX_STEPS && drafting.propose(step, 1, 8, new int[8], true) == 0) {
            step++;
        }
        return step;
    }

    /** An index that takes several steps for a long prompt is no reason to pause. */
    @ParameterizedTest
    @CsvSource({"1000, 0", "5000, 2", "32000, 15", "100000, 48"})
    void long_prompt_has_drafts_as_soon_as_it_has_been_read(int length, int step) {
        int[] prompt = new Random(length).ints(length, 0, 50_000).toArray();
        System.arraycopy(prompt, 0, prompt, length - 20, 20);
        assertThat(firstDrafts(Drafter.suffix(8, false), prompt)).isEqualTo(step);
    }
}
