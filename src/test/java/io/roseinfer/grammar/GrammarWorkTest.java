package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;

class GrammarWorkTest {
    private static int spend(long steps) {
        GrammarWork.add(steps);
        return 1;
    }

    @Test
    void work_beyond_the_limit_fails_with_its_name() {
        assertThat(GrammarWork.reading(() -> spend(300_000))).isEqualTo(1);
        assertThatThrownBy(() -> GrammarWork.reading(() -> spend(300_001)))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("reading the grammar takes more than 300000 steps (the limit)");
        assertThatThrownBy(() -> GrammarWork.mask(() -> spend(2_000_001)))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("computing a mask of the grammar takes more than 2000000 steps (the limit)");
    }

    @Test
    void source_within_another_one_is_part_of_its_work() {
        assertThatThrownBy(() -> GrammarWork.reading(() -> spend(200_000) + GrammarWork.reading(() -> spend(200_000))))
                .isInstanceOf(BadInput.class);
        assertThat(spend(Long.MAX_VALUE)).isEqualTo(1);
    }

    @Test
    void interrupt_cancels_the_work() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> GrammarWork.reading(() -> spend(100_000))).isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
