package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.backend.cuda.launch.SampleKernel;
import io.roseinfer.backend.cuda.memory.DeviceMemory;
import io.roseinfer.backend.cuda.memory.ElementType;
import io.roseinfer.backend.cuda.memory.ModelShape;
import io.roseinfer.backend.cuda.memory.Shard;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepBuffersTest {
    private static final long INPUT_BYTES = 12_345;
    private static final long POOL_BYTES = 1 << 20;

    /** A device that keeps account of what is asked of it. */
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
        "gpt2, F32, 64, 512, true",
        "gpt2-medium, BF16, 300, 17, false",
        "gpt2-xl, F16, 256, 2048, false"
    })
    void the_planned_bytes_are_those_that_the_device_is_asked_for_beside_the_pool(
            String model, ElementType type, int rows, int tokens, boolean hopper) {
        ModelSpec spec = Families.shape(model).orElseThrow();
        ModelShape shape = ModelShape.of(spec, type, KvPrecision.AUTO, Shard.WHOLE);
        RunnerLimits limits = new RunnerLimits(rows, tokens, 16, 0);
        SampleKernel sampling = SampleKernel.of(spec.vocabularySize(), hopper);
        StepBuffers.Plan plan = StepBuffers.plan(shape, limits, sampling, INPUT_BYTES);
        long promised = plan.bytes();
        StepBuffers buffers = plan.allocate(memory, POOL_BYTES);
        assertThat(account.bytes()).isEqualTo(promised + POOL_BYTES);
        assertThat(account.sizes.get((int) buffers.pool() - 1)).isEqualTo(POOL_BYTES);
        assertThat(account.sizes.get((int) buffers.logits() - 1)).isEqualTo(4L * rows * shape.paddedVocabulary());
        assertThat(memory.uses()).contains(new MemoryUse("step inputs", 2 * INPUT_BYTES));
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 8", "9, 3, 16", "4, 100, 104"})
    void activations_have_room_for_the_largest_step_in_whole_panels(int rows, int tokens, int panelRows) {
        ModelShape shape =
                ModelShape.of(Families.shape("gpt2").orElseThrow(), ElementType.F16, KvPrecision.AUTO, Shard.WHOLE);
        SampleKernel sampling = SampleKernel.of(50257, true);
        StepBuffers buffers = StepBuffers.plan(shape, new RunnerLimits(rows, tokens, 16, 0), sampling, INPUT_BYTES)
                .allocate(memory, POOL_BYTES);
        assertThat(buffers.panelRows()).isEqualTo(panelRows);
        assertThat(account.sizes.get((int) buffers.x() - 1)).isEqualTo(4L * panelRows * 768);
    }
}
