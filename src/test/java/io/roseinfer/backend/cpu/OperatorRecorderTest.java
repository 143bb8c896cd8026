package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepProfile;
import io.roseinfer.backend.StepProfile.Kind;
import io.roseinfer.backend.StepProfile.Part;
import io.roseinfer.backend.StepProfiler;
import io.roseinfer.base.Clock;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operator times with a clock that ticks once per reading. */
@Tag("parity")
class OperatorRecorderTest {
    private static final int BLOCK_SIZE = 16;
    private static final TestModel MODEL = TestModel.random(TestModel.plain(), 1);

    private final AtomicLong ticks = new AtomicLong();
    private final Clock clock = ticks::incrementAndGet;

    private static StepDriver driver(int threads) {
        CpuOptions options = new CpuOptions(threads, Precision.FP32, KernelChoice.SCALAR);
        RunnerLimits limits = new RunnerLimits(4, 64, BLOCK_SIZE, 0);
        return new StepDriver(new CpuBackend(options).load(MODEL.spec, MODEL.weights(), limits));
    }

    private static StepDriver.Sequence sequence(int length) {
        int[] tokens = new int[length];
        for (int i = 0; i < length; i++) {
            tokens[i] = i % 7;
        }
        return new StepDriver.Sequence(tokens);
    }

    /** Prefills of 5 and 3 tokens in one step, then two decode steps of both. */
    private List<StepProfile> profile(int threads) {
        try (StepDriver driver = driver(threads)) {
            StepProfiler profiler = ((StepProfiler.Source) driver.runner).profile(clock);
            StepDriver.Sequence first = sequence(7);
            StepDriver.Sequence second = sequence(5);
            driver.add(first, 5, true).add(second, 3, true).step();
            driver.add(first, 1, true).add(second, 1, true).step();
            driver.add(first, 1, true).add(second, 1, true).step();
            return profiler.steps();
        }
    }

    private static Part part(StepProfile step, Operator operator) {
        return step.parts().stream()
                .filter(part -> part.operator() == operator)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void operators_of_one_worker_add_up_to_the_step() {
        assertThat(profile(1))
                .hasSize(3)
                .allSatisfy(step -> assertThat(step.stepNanos()
                                - step.parts().stream().mapToLong(Part::nanos).sum())
                        .isEqualTo(1));
    }

    /** Means over workers are rounded down, once per operator and once for the wait at the end. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void operators_of_several_workers_add_up_except_for_rounding(int threads) {
        assertThat(profile(threads))
                .hasSize(3)
                .allSatisfy(step -> assertThat(step.stepNanos()
                                - step.parts().stream().mapToLong(Part::nanos).sum())
                        .isBetween(1L, 2L + Operator.values().length));
    }

    @Test
    void steps_are_prefill_or_decode() {
        assertThat(profile(2))
                .extracting(StepProfile::kind, StepProfile::rows, StepProfile::tokens)
                .containsExactly(tuple(Kind.PREFILL, 2, 8), tuple(Kind.DECODE, 2, 2), tuple(Kind.DECODE, 2, 2));
    }

    /** Width 48, inner 96, 2 layers, 61 tokens of vocabulary in panels of 48. */
    @Test
    void parts_of_a_decode_step_have_the_work_of_its_shape() {
        StepProfile step = profile(2).getLast();
        assertThat(part(step, Operator.QKV)).satisfies(qkv -> {
            assertThat(qkv.calls()).isEqualTo(2);
            assertThat(qkv.bytes()).isEqualTo(2 * 4 * 48 * 144);
            assertThat(qkv.flops()).isEqualTo(2 * 2 * 2 * 48 * 144);
        });
        assertThat(part(step, Operator.LOGITS).bytes()).isEqualTo(4 * 48 * 96);
        assertThat(part(step, Operator.LOGITS).flops()).isEqualTo(2 * 2 * 48 * 61);
        assertThat(part(step, Operator.ATTENTION).bytes()).isEqualTo((7 + 5) * 2 * 2 * 48 * 4);
        assertThat(part(step, Operator.ATTENTION).flops()).isEqualTo((7 + 5) * 2 * 4 * 48);
        assertThat(part(step, Operator.NORM).calls()).isEqualTo(4);
        assertThat(part(step, Operator.WAITING).calls()).isEqualTo(2 * 7 + 1 + 2);
    }

    /** Layers with windows of 5, 23 and all tokens; 7 query heads of size 12 and one KV head. */
    @Test
    void windowed_layers_count_only_keys_in_their_window() {
        TestModel model = TestModel.random(TestModel.windowed(), 1);
        CpuOptions options = new CpuOptions(2, Precision.FP32, KernelChoice.SCALAR);
        RunnerLimits limits = new RunnerLimits(4, 64, BLOCK_SIZE, 0);
        try (StepDriver driver = new StepDriver(new CpuBackend(options).load(model.spec, model.weights(), limits))) {
            StepProfiler profiler = ((StepProfiler.Source) driver.runner).profile(clock);
            StepDriver.Sequence sequence = sequence(10);
            driver.add(sequence, 9, true).step();
            driver.add(sequence, 1, true).step();
            Part prefill = part(profiler.steps().getFirst(), Operator.ATTENTION);
            Part decode = part(profiler.steps().getLast(), Operator.ATTENTION);
            assertThat(prefill.bytes()).isEqualTo(3 * 9 * 2 * 12 * 4);
            assertThat(prefill.flops()).isEqualTo((1 + 2 + 3 + 4 + 5 * 5 + 2 * 45) * 4 * 84);
            assertThat(decode.bytes()).isEqualTo((5 + 10 + 10) * 2 * 12 * 4);
            assertThat(decode.flops()).isEqualTo((5 + 10 + 10) * 4 * 84);
        }
    }

    @Test
    void prefill_counts_every_score_once() {
        long scores = 5 * 6 / 2 + 3 * 4 / 2;
        assertThat(part(profile(1).getFirst(), Operator.ATTENTION).flops()).isEqualTo(scores * 2 * 4 * 48);
    }

    @Test
    void full_ring_keeps_the_newest_steps() {
        try (StepDriver driver = driver(1)) {
            StepProfiler profiler = ((StepProfiler.Source) driver.runner).profile(clock);
            StepDriver.Sequence sequence = sequence(1);
            for (int i = 0; i < OperatorRecorder.KEPT + 3; i++) {
                sequence.computed = 0;
                driver.add(sequence, 1, i >= 3).step();
            }
            assertThat(profiler.recorded()).isEqualTo(OperatorRecorder.KEPT + 3);
            assertThat(profiler.steps())
                    .hasSize(OperatorRecorder.KEPT)
                    .allSatisfy(step ->
                            assertThat(part(step, Operator.LOGITS).calls()).isEqualTo(1));
            profiler.clear();
            assertThat(profiler.steps()).isEmpty();
        }
    }
}
