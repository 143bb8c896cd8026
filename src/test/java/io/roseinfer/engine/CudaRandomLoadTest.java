package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.cuda.RequiresCuda;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Runs {@link CudaRandomLoad} for a few seconds; longer runs are started by hand. */
@RequiresCuda
class CudaRandomLoadTest {
    private static final int ITERATIONS = 1500;

    @ParameterizedTest
    @FieldSource("io.roseinfer.engine.CudaRandomLoad#SETUPS")
    void random_load_with_cancels_gives_the_tokens_of_solo_runs_and_uses_no_more_memory(
            CudaRandomLoad.Setup setup, TestReporter out) {
        long seed = Long.getLong("roseinfer.seed", 11);
        long[] freeBytes = new long[3];
        AtomicInteger iteration = new AtomicInteger();
        RandomLoad.Tally tally =
                CudaRandomLoad.run(setup, seed, () -> iteration.getAndIncrement() < ITERATIONS, freeBytes);
        out.publishEntry(setup.name() + ", seed " + seed, tally.toString());
        assertThat(freeBytes[2]).as("free device memory at the end").isEqualTo(freeBytes[0]);
        assertThat(tally.completed()).isPositive();
        assertThat(tally.cancelled()).isPositive();
        assertThat(tally.preemptions()).isPositive();
        assertThat(tally.cachedTokens()).isPositive();
    }
}
