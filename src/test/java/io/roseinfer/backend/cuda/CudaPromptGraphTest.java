package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Clock;
import io.roseinfer.model.family.Families;
import io.roseinfer.model.files.ModelFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Memory and time of prompt graphs at load, for the GPT-2 124M shape; each test publishes them. */
@RequiresCuda
class CudaPromptGraphTest {
    private static final RunnerLimits LIMITS = new RunnerLimits(1, 1024, 16, 128);
    private static final int MAX_TOKENS = CudaOptions.defaults().promptGraphTokens();
    private static final long MAX_BYTES = 256L << 20;

    private record Cost(long bytes, long nanos) {}

    private static Cost load(int promptGraphTokens) {
        Clock clock = Clock.system();
        CudaOptions options =
                CudaOptions.defaults().withPrecision(Precision.FP16).withPromptGraphTokens(promptGraphTokens);
        try (ModelFiles files = ModelFiles.random("gpt2", 0);
                CudaBackend backend = CudaBackend.open(options, clock)) {
            long start = clock.nanos();
            ModelRunner runner = backend.load(files.spec(), files.weights(), LIMITS);
            long nanos = clock.nanos() - start;
            long free = CudaProbe.freeBytes();
            runner.close();
            return new Cost(-free, nanos);
        }
    }

    /** The first load includes one-time costs of the process and is not measured. */
    @Test
    void prompt_graphs_take_little_memory(TestReporter out) {
        load(MAX_TOKENS);
        Cost without = load(0);
        Cost with = load(MAX_TOKENS);
        long bytes = with.bytes() - without.bytes();
        long layerWeights = ModelShape.of(
                        Families.shape("gpt2").orElseThrow(), ElementType.F16, KvPrecision.AUTO, Shard.WHOLE)
                .layerWeights();
        out.publishEntry(
                "graphs of prompts",
                GraphBuckets.ofPrompts(MAX_TOKENS, TileTable.load().of(layerWeights, ElementType.F16))
                                .sizes()
                                .length + " sizes, "
                        + bytes / 1024 + " KiB of the device, " + (with.nanos() - without.nanos()) / 1_000_000
                        + " ms of loading");
        assertThat(bytes).isLessThan(MAX_BYTES);
    }
}
