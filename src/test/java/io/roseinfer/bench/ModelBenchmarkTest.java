package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.ModelBenchmark.WarmUp;
import io.roseinfer.bench.ModelPoint.Decode;
import io.roseinfer.bench.ModelPoint.Prefill;
import io.roseinfer.bench.report.ModelReport;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelBenchmarkTest {
    private static final ModelSpec SPEC = Families.shape("gpt2").orElseThrow();

    private static ModelBenchmark.Settings settings(ModelPoint... points) {
        return new ModelBenchmark.Settings(List.of(points), 5, 20, new WarmUp(1, 0), 3);
    }

    private static SimRunner runner(ModelBenchmark.Settings settings, SimOptions options) {
        return new SimRunner(
                SPEC,
                EngineLimits.runnerLimits(settings.engineOptions(EngineOptions.defaults(), SPEC.contextLength()), SPEC),
                options);
    }

    /** Every device step takes 2 ms. The rows' prompts are computed once, before the measurement. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void step_time_excludes_prefill_and_warm_up(int inFlight) {
        AtomicLong now = new AtomicLong();
        AtomicLong steps = new AtomicLong();
        SimOptions device = SimOptions.defaults().withMaxInFlight(inFlight).withOnStep(step -> {
            now.addAndGet(2_000_000);
            steps.incrementAndGet();
        });
        ModelBenchmark.Settings settings = settings(new Prefill(3, 40), new Decode(7));
        List<ModelTiming> timings = new ArrayList<>();
        try (ModelRunner runner = runner(settings, device)) {
            new ModelBenchmark(runner, settings, now::get, Observers.NONE).run(timings::add);
        }
        assertThat(timings).extracting(ModelTiming::point).containsExactlyElementsOf(settings.points());
        assertThat(timings).allSatisfy(timing -> {
            assertThat(timing.stepMillis().count()).isEqualTo(3);
            assertThat(timing.stepMillis().p50()).isEqualTo(2);
            assertThat(timing.stepMillis().max()).isEqualTo(2);
        });
        assertThat(timings.get(0).tokensPerSecond()).isEqualTo(60_000);
        assertThat(timings.get(1).tokensPerSecond()).isEqualTo(3_500);
        assertThat(steps).hasValue(4 * (1 + 20) + 1);
    }

    /** Every device step takes 2 ms. */
    @ParameterizedTest
    @CsvSource({"0, 0, 0", "1, 0, 1", "0, 5000000, 3", "2, 5000000, 3", "4, 5000000, 4"})
    void warm_up_takes_a_minimum_of_runs_and_of_time(int runs, long nanos, int expected) {
        AtomicLong steps = new AtomicLong();
        SimOptions device = SimOptions.defaults().withOnStep(step -> steps.incrementAndGet());
        ModelBenchmark.Settings settings =
                new ModelBenchmark.Settings(List.of(new Prefill(1, 8)), 5, 20, new WarmUp(runs, nanos), 1);
        try (ModelRunner runner = runner(settings, device)) {
            new ModelBenchmark(runner, settings, () -> steps.get() * 2_000_000, Observers.NONE).run(timing -> {});
        }
        assertThat(steps).hasValue(expected + 1);
    }

    /** The simulated token is a hash of all tokens of its row, so it reveals any wrong earlier token. */
    @ParameterizedTest
    @CsvSource({"1, 1, 1", "2, 1, 1", "2, 6, 1", "1, 6, 1", "2, 6, 3"})
    void each_step_feeds_the_token_that_its_row_sampled_last(int inFlight, int rows, int runs) {
        ModelBenchmark.Settings settings = settings(new Decode(6));
        try (SimRunner device = runner(settings, SimOptions.defaults().withMaxInFlight(inFlight));
                SimRunner oracle = runner(settings, SimOptions.defaults())) {
            ModelSteps steps = new ModelSteps(device, 6, 25, Observers.NONE.steps(0));
            steps.prefill(rows, 5);
            for (int run = 0; run < runs; run++) {
                steps.decode(rows, 5, 20);
            }
            for (int row = 0; row < rows; row++) {
                assertThat(steps.token(row)).isEqualTo(alone(oracle, steps, row));
            }
        }
    }

    /** Returns a row's last token, computed with one full prefill per token. */
    private static int alone(SimRunner device, ModelSteps of, int row) {
        int[] tokens = new int[26];
        Arrays.setAll(tokens, position -> of.promptToken(row, position));
        StepInputs step = device.newInputs();
        StepOutputs outputs = device.newOutputs();
        for (int length = 5; length <= 25; length++) {
            step.clear();
            step.beginRow(0, IntStream.range(0, device.kv().blocksFor(length)).toArray());
            for (int position = 0; position < length; position++) {
                step.addToken(tokens[position]);
            }
            step.endRow();
            step.sample(step.tokens() - 1, new SampleRequest(SamplingParams.greedy(), 0, TokenHistory.NONE));
            device.submit(step, outputs);
            device.await();
            tokens[length] = outputs.token(0);
        }
        return tokens[25];
    }

    @ParameterizedTest
    @CsvSource({"1000, 1025", "2147483647, 2147483672"})
    void row_longer_than_the_context_is_rejected_before_model_load(int context, long tokens) {
        ModelBenchmark.Settings settings =
                new ModelBenchmark.Settings(List.of(new Decode(1)), context, 25, new WarmUp(0, 0), 1);
        assertThatThrownBy(() -> settings.engineOptions(EngineOptions.defaults(), 1024))
                .isInstanceOf(BadInput.class)
                .hasMessage("decode 1 needs " + tokens + " tokens per row; the model's context is 1024, so use fewer "
                        + "tokens, a smaller --context or fewer --decode-steps");
    }

    @Test
    void token_count_of_a_step_may_exceed_an_int() {
        assertThat(new Prefill(65_536, 65_536).tokensPerStep()).isEqualTo(1L << 32);
    }

    @Test
    void prompts_beyond_the_step_limit_are_rejected_with_the_limit() {
        ModelBenchmark.Settings settings = settings(new Prefill(64, 1024));
        try (ModelRunner runner = runner(settings, SimOptions.defaults())) {
            assertThatThrownBy(() -> new ModelBenchmark(runner, settings, () -> 0, Observers.NONE))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("prefill 64x1024 has 65536 tokens; a step takes at most 8193");
        }
    }

    @Test
    void timing_is_printed_as_one_table_row() {
        ModelTiming timing = new ModelTiming(new Decode(8), List.of(4.0, 3.5, 5.0));
        assertThat(ModelReport.row(timing))
                .isEqualTo("decode 8              4.000      3.500      5.000       2000.0\n");
    }
}
