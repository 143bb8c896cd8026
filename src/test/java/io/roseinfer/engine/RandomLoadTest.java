package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.CpuProbe;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.scheduler.SchedulerOptions;
import org.junit.jupiter.api.Test;

/** Runs the checks of {@link RandomLoad} for a GPU on the CPU. */
class RandomLoadTest {
    private static final SchedulerOptions OPTIONS = SchedulerOptions.builder()
            .maxBatchSize(12)
            .chunkedPrefill(true)
            .prefillMaxTokens(64)
            .build();

    @Test
    void random_load_with_cancels_gives_the_tokens_of_solo_runs() {
        long seed = Long.getLong("roseinfer.seed", 7);
        EngineOptions options = EngineOptions.defaults().withScheduler(OPTIONS).withKvBlocks(16);
        CpuOptions cpu = CpuOptions.defaults().withPrecision(Precision.FP32).withKernels(KernelChoice.VECTOR);
        try (ModelFiles files = Golden.read("odd-heads").open();
                CpuBackend backend = new CpuBackend(cpu);
                ModelRunner runner =
                        backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()))) {
            RandomLoad load = new RandomLoad(runner, OPTIONS, block -> CpuProbe.poison(runner, block), seed);
            for (int iteration = 0; iteration < 120; iteration++) {
                load.runIteration();
            }
            RandomLoad.Tally tally = load.finish();
            assertThat(tally.completed()).as("seed %d: %s", seed, tally).isPositive();
            assertThat(tally.cancelled()).isPositive();
            assertThat(tally.preemptions()).isPositive();
            assertThat(tally.cachedTokens()).isPositive();
            assertThat(tally.poisonedBlocks()).isPositive();
        }
    }
}
