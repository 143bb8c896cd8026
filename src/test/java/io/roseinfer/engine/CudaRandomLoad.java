package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.backend.cuda.CudaProbe;
import io.roseinfer.base.Clock;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * {@link RandomLoad} on a GPU, including its memory use.
 *
 * <pre>bin/java-with-flags -cp 'lib/*:test-classes:test-lib/*' io.roseinfer.engine.CudaRandomLoad SECONDS SEED...</pre>
 */
final class CudaRandomLoad {
    /**
     * A configuration.
     *
     * @param cuda options of the device; results must not depend on the batch
     */
    record Setup(String name, CudaOptions cuda, SchedulerOptions scheduler) {}

    /** Too few for all rows, so some are preempted. */
    private static final int KV_BLOCKS = 36;

    private static final CudaOptions INVARIANT = CudaOptions.defaults().withBatchInvariant(true);
    private static final SchedulerOptions PREFILL_APART =
            SchedulerOptions.builder().maxBatchSize(24).build();

    /** Both step policies, with and without graphs, in a narrow type and in the widest. */
    static final List<Setup> SETUPS = List.of(
            new Setup(
                    "fp16, chunked prefill",
                    INVARIANT.withPrecision(Precision.FP16),
                    SchedulerOptions.builder()
                            .maxBatchSize(24)
                            .chunkedPrefill(true)
                            .prefillMaxTokens(96)
                            .build()),
            new Setup("fp16, no graphs", INVARIANT.withPrecision(Precision.FP16).withGraphs(false), PREFILL_APART),
            new Setup("bf16", INVARIANT.withPrecision(Precision.BF16), PREFILL_APART),
            new Setup("fp32", INVARIANT.withPrecision(Precision.FP32), PREFILL_APART));

    private CudaRandomLoad() {}

    /**
     * Runs one setup with the built-in model.
     *
     * @param goesOn checked before every iteration
     * @param freeBytes receives the device's free memory: after loading, after solo runs of every kind of request, and
     *     at the end
     */
    static RandomLoad.Tally run(Setup setup, long seed, BooleanSupplier goesOn, long[] freeBytes) {
        EngineOptions options =
                EngineOptions.defaults().withScheduler(setup.scheduler()).withKvBlocks(KV_BLOCKS);
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                CudaBackend backend = CudaBackend.open(setup.cuda(), Clock.system());
                ModelRunner runner =
                        backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()))) {
            freeBytes[0] = CudaProbe.freeBytes();
            RandomLoad load = new RandomLoad(runner, setup.scheduler(), block -> CudaProbe.poison(runner, block), seed);
            freeBytes[1] = CudaProbe.freeBytes();
            while (goesOn.getAsBoolean()) {
                load.runIteration();
            }
            RandomLoad.Tally tally = load.finish();
            freeBytes[2] = CudaProbe.freeBytes();
            return tally;
        }
    }

    /**
     * Runs every setup for its share of the time, once per seed, and prints the results; a wrong token ends the
     * program.
     *
     * @param args total seconds, then seeds
     */
    public static void main(String[] args) {
        long share = Long.parseLong(args[0]) * 1_000_000_000L / SETUPS.size() / (args.length - 1);
        for (int i = 1; i < args.length; i++) {
            for (Setup setup : SETUPS) {
                print(setup, Long.parseLong(args[i]), share);
            }
        }
    }

    private static void print(Setup setup, long seed, long nanos) {
        long[] freeBytes = new long[3];
        long start = System.nanoTime();
        RandomLoad.Tally tally = run(setup, seed, () -> System.nanoTime() - start < nanos, freeBytes);
        System.out.printf(
                "%s, seed %d, %.1f s: %s; device memory free: %d bytes loaded, %d warm, %d at the end%n",
                setup.name(), seed, (System.nanoTime() - start) / 1e9, tally, freeBytes[0], freeBytes[1], freeBytes[2]);
    }
}
