package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StepBuffersTest {
    private static final long POOL_BYTES = 1 << 20;

    /** A device that records allocations. */
    private static final class Account implements DeviceMemory.Source {
        private final List<Long> sizes = new ArrayList<>();

        @Override
        public int allocate(long[] address, long bytes) {
            sizes.add(bytes);
            address[0] = sizes.size();
            return DriverStatus.SUCCESS;
        }

        @Override
        public int free(long address) {
            return DriverStatus.SUCCESS;
        }

        @Override
        public long freeBytes() {
            return Long.MAX_VALUE;
        }

        long bytes() {
            return sizes.stream().mapToLong(Long::longValue).sum();
        }
    }

    private final Account account = new Account();
    private final DeviceMemory memory = new DeviceMemory(account, "device cuda:0");

    @ParameterizedTest
    @CsvSource({
        "gpt2, F16, 1, 1, true",
        "gpt2, F32, 64, 512, false",
        "gpt2-medium, BF16, 300, 17, false",
        "gpt2-xl, F16, 256, 2048, true"
    })
    void planned_bytes_equal_allocated_bytes_without_the_pool(
            String model, ElementType type, int rows, int tokens, boolean hopper) {
        ModelSpec spec = Families.shape(model).orElseThrow();
        ModelShape shape = ModelShape.of(spec, type, KvPrecision.AUTO, Shard.WHOLE);
        RunnerLimits limits = new RunnerLimits(rows, tokens, 16, 0);
        StepBuffers.Plan plan = StepBuffers.plan(shape, limits, 0, hopper);
        long promised = plan.bytes();
        StepBuffers buffers = plan.allocate(memory, POOL_BYTES);
        assertThat(account.bytes()).isEqualTo(promised + POOL_BYTES);
        assertThat(account.sizes.get((int) buffers.pool() - 1)).isEqualTo(POOL_BYTES);
        assertThat(account.sizes.get((int) buffers.logits() - 1)).isEqualTo(4L * rows * shape.paddedVocabulary());
        long inputs = StepLayout.maxBytes(limits, spec.contextLength())
                + SampleLayout.maxBytes(limits, spec.contextLength(), spec.vocabularySize());
        assertThat(memory.uses()).contains(new MemoryUse("step inputs", 2 * inputs));
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 8", "9, 3, 16", "4, 100, 104"})
    void activations_fit_the_largest_step_in_whole_panels(int rows, int tokens, int panelRows) {
        ModelShape shape =
                ModelShape.of(Families.shape("gpt2").orElseThrow(), ElementType.F16, KvPrecision.AUTO, Shard.WHOLE);
        StepBuffers buffers = StepBuffers.plan(shape, new RunnerLimits(rows, tokens, 16, 0), 0, true)
                .allocate(memory, POOL_BYTES);
        assertThat(buffers.panelRows()).isEqualTo(panelRows);
        assertThat(account.sizes.get((int) buffers.x() - 1)).isEqualTo(4L * panelRows * 768);
    }

    /** Moments have one part per at least 64 columns; with fused norms, a kernel normalizes sampled rows only. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fused_and_separate_norms_have_their_buffers(boolean fused) {
        ModelShape shape = llama8b();
        StepBuffers buffers = StepBuffers.plan(shape, new RunnerLimits(16, 2056, 16, 0), 0, fused)
                .allocate(memory, POOL_BYTES);
        assertThat(account.sizes.get((int) buffers.moments() - 1)).isEqualTo(fused ? 8L * 2056 * (4096 / 64) : 16);
        assertThat(account.sizes.get((int) buffers.xPanels() - 1)).isEqualTo(fused ? 2L * 2056 * 4096 : 16);
        assertThat(account.sizes.get((int) buffers.normalized() - 1)).isEqualTo(2L * (fused ? 16 : 2056) * 4096);
    }

    private static ModelShape llama8b() {
        return ModelShape.of(
                Families.shape("llama-3.1-8b").orElseThrow(), ElementType.BF16, KvPrecision.AUTO, Shard.WHOLE);
    }

    /** Returns the free memory of a 24 GB card after the weights and half a gigabyte for the driver and kernels. */
    private static long freeBesideWeights(ModelShape shape) {
        ModelSpec spec = shape.spec();
        long weights = spec.layers() * shape.layerWeights() + 2L * spec.vocabularySize() * spec.width();
        return 24_000_000_000L - (1L << 29) - 2 * weights;
    }

    private static KvGeometry poolBeside(ModelShape shape, SchedulerOptions scheduler, boolean hopper) {
        RunnerLimits limits = EngineLimits.runnerLimits(
                EngineOptions.defaults().withKvBlocks(0).withScheduler(scheduler), shape.spec());
        KernelChoice kernels =
                new KernelChoice(TileTable.load().of(shape.layerWeights(), shape.weights()), shape, 16, hopper, false);
        long scratch = StepBuffers.plan(shape, limits, kernels.widePages(limits), kernels.fusesNorms())
                .bytes();
        return KvSizing.geometry(shape, limits, freeBesideWeights(shape), scratch, "device cuda:0");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void llama_8b_with_chunked_prefill_fits_32768_tokens_in_24_gb(boolean hopper) {
        for (int budget : new int[] {2048, SchedulerOptions.UNLIMITED}) {
            SchedulerOptions cut = SchedulerOptions.builder()
                    .chunkedPrefill(true)
                    .prefillMaxTokens(budget)
                    .build();
            assertThat(poolBeside(llama8b(), cut, hopper).blocks()).isGreaterThan(32_768 / 16);
        }
    }

    @Test
    void llama_8b_with_whole_prompts_in_24_gb_names_the_options() {
        assertThatThrownBy(() -> poolBeside(llama8b(), SchedulerOptions.defaults(), true))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("scratch memory for steps of up to 131080 tokens takes")
                .hasMessageContaining("chunkedPrefill")
                .hasMessageContaining("prefillMaxTokens")
                .hasMessageContaining("maxModelLen")
                .hasMessageNotContaining("kvBlocks");
    }
}
