package io.roseinfer.engine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadedSoakTest {
    private static final long FIRST_SEED = 11;

    /** A failure names its seed; {@code tools/sim --soak} runs more of them. */
    @Test
    void thousands_of_requests_on_real_threads_yield_what_each_yields_alone() {
        ThreadedSoak soak = new ThreadedSoak();
        for (int i = 0; i < 40; i++) {
            soak.run(FIRST_SEED + i, 100);
        }
    }
}
