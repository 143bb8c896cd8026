package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadedSoakTest {
    private static final long FIRST_SEED = 11;
    private static final int SETUPS = 40;
    private static final int REQUESTS = 100;

    /** A failure names its seed; {@code tools/sim --soak} runs more of them. */
    @Test
    void thousands_of_requests_on_real_threads_get_the_tokens_of_solo_runs() {
        ThreadedSoak soak = new ThreadedSoak();
        for (int i = 0; i < SETUPS; i++) {
            long seed = FIRST_SEED + i;
            assertThatCode(() -> soak.run(seed, REQUESTS)).doesNotThrowAnyException();
        }
    }
}
