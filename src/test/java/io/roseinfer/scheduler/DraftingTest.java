package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.Random;
import org.junit.jupiter.api.Test;
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

    /** Drafts nothing. */
    private static final class None implements Drafter {
        @Override
        public int maxTokens() {
            return 8;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> 0;
        }
    }

    private static Drafting drafting() {
        Sequence sequence = new Sequence(0, "", new int[9], 100, SamplingParams.greedy(), 0, new int[0]);
        return new Drafting(new None(), sequence, new DraftCost(16), 100);
    }

    /** Returns the first step after {@code step} that no pause includes, after as many rows without an accepted draft as make one. */
    private static long endOfPause(Drafting drafting, long step) {
        for (int row = 0; row < 20 && drafting.isDue(step); row++) {
            drafting.verified(step, 1, 1, 0);
        }
        long end = step;
        while (!drafting.isDue(end)) {
            end++;
        }
        return end;
    }

    @Test
    void accepted_draft_shortens_the_next_pause() {
        Drafting drafting = drafting();
        assertThat(endOfPause(drafting, 128)).isEqualTo(132);
        assertThat(endOfPause(drafting, 256)).isEqualTo(264);
        assertThat(endOfPause(drafting, 384)).isEqualTo(400);
        drafting.verified(512, 1, 8, 8);
        assertThat(endOfPause(drafting, 512)).isEqualTo(516);
    }

    @Test
    void pauses_that_begin_at_different_steps_end_at_the_same() {
        assertThat(endOfPause(drafting(), 129)).isEqualTo(136);
        assertThat(endOfPause(drafting(), 131)).isEqualTo(136);
    }

    @Test
    void accepted_draft_shortens_the_next_pause_after_steps_that_waited_in_vain() {
        Drafting drafting = drafting();
        long[] waits = {128, 256, 384};
        for (long step : waits) {
            assertThat(drafting.propose(step, 1, 8, new int[8], true)).isZero();
        }
        assertThat(drafting.isDue(391)).isFalse();
        assertThat(drafting.isDue(392)).isTrue();
        drafting.verified(512, 1, 8, 8);
        assertThat(drafting.propose(512, 1, 8, new int[8], true)).isZero();
        assertThat(drafting.isDue(514)).isTrue();
    }

    /** The drafts after the first rejected one were not compared with any token. */
    @Test
    void drafts_after_a_rejected_one_do_not_count_as_rejected() {
        Drafting drafting = drafting();
        for (int row = 0; row < 20; row++) {
            drafting.verified(row, 1, 8, 1);
        }
        assertThat(drafting.isDue(20)).isTrue();
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
