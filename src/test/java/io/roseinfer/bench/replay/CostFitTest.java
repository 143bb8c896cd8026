package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CostFitTest {
    private static final long SEED = 7;

    /** Returns a step's true cost: decode is memory-bound up to eight rows and steeper beyond, prefill grows with its tokens. */
    private static double truth(StepShape shape) {
        return shape.isDecode()
                ? 1e6 + 2e4 * shape.rows() + 3e5 * Math.max(0, shape.rows() - 8) + 40.0 * shape.attended()
                : 2e6 + 1e4 * shape.tokens() + 5e5 * shape.rows() + 30.0 * shape.attended();
    }

    private static StepShape decode(int rows, long context) {
        return new StepShape(rows, rows, 0, rows * context, context);
    }

    private static StepShape prompts(int rows, int length) {
        return new StepShape(rows, rows * length, rows * length, rows * (long) length * (length + 1) / 2, 0);
    }

    /** Returns steps of all kinds with noisy durations; if there is noise, one step in fifty takes ten times as long. */
    private static List<CostFit.Sample> samples(double noise) {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>();
        for (int i = 0; i < 4000; i++) {
            StepShape shape = i % 4 == 0
                    ? prompts(1 + random.nextInt(4), 16 + random.nextInt(200))
                    : decode(1 + random.nextInt(16), 20 + random.nextInt(900));
            double factor = Math.exp(noise * random.nextGaussian()) * (noise > 0 && i % 50 == 0 ? 10 : 1);
            samples.add(new CostFit.Sample(shape, truth(shape) * factor));
        }
        return samples;
    }

    @Test
    void fitted_costs_equal_measured_step_times() {
        CostTable table = CostFit.fit(samples(0));
        for (StepShape shape :
                List.of(decode(1, 50), decode(8, 800), decode(13, 400), prompts(1, 40), prompts(3, 120))) {
            assertThat(table.nanos(shape)).as("%s", shape).isCloseTo(truth(shape), within(0.03 * truth(shape)));
        }
    }

    @Test
    void fit_is_robust_to_noise_and_outliers() {
        CostTable table = CostFit.fit(samples(0.05));
        for (StepShape shape :
                List.of(decode(1, 50), decode(8, 800), decode(13, 400), prompts(1, 40), prompts(3, 120))) {
            assertThat(table.nanos(shape)).as("%s", shape).isCloseTo(truth(shape), within(0.05 * truth(shape)));
        }
    }

    @Test
    void fitted_cost_is_monotonic_in_rows() {
        CostTable table = CostFit.fit(samples(0.3));
        double before = 0;
        for (int rows = 1; rows <= 40; rows++) {
            double nanos = table.nanos(decode(rows, 100));
            assertThat(nanos).as("%d rows", rows).isGreaterThanOrEqualTo(before);
            before = nanos;
        }
    }

    @Test
    void run_without_decode_steps_is_rejected() {
        List<CostFit.Sample> prompts =
                samples(0).stream().filter(sample -> !sample.shape().isDecode()).toList();
        assertThatThrownBy(() -> CostFit.fit(prompts))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("no step that only decodes");
    }

    @Test
    void mixed_steps_have_costs_of_their_own() {
        List<CostFit.Sample> samples = new ArrayList<>(samples(0));
        for (int rows = 1; rows <= 16; rows++) {
            for (int tokens : List.of(64, 128, 256)) {
                samples.add(new CostFit.Sample(mixed(rows, tokens), 9e6));
            }
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.nanos(mixed(5, 128))).isCloseTo(9e6, within(1e5));
        assertThat(table.nanos(prompts(1, 128)))
                .isCloseTo(truth(prompts(1, 128)), within(0.03 * truth(prompts(1, 128))));
    }

    /** Returns a step of one prompt's chunk and decode rows. */
    private static StepShape mixed(int rows, int tokens) {
        return new StepShape(rows + 1, rows + tokens, tokens, rows * 100L + tokens * (tokens + 1L) / 2, 100);
    }

    @Test
    void cost_of_the_longest_row_is_fitted() {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>(
                samples(0).stream().filter(sample -> !sample.shape().isDecode()).toList());
        for (int i = 0; i < 2000; i++) {
            StepShape shape = decodeWith(1 + random.nextInt(64), 100 + random.nextInt(3000));
            samples.add(new CostFit.Sample(
                    shape, 1e6 + 2e4 * shape.rows() + 4.0 * shape.attended() + 100 * shape.unsplit()));
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.decode().perAttended()).isCloseTo(4, within(0.2));
        assertThat(table.decode().perLongest()).isCloseTo(100, within(3.0));
        assertThat(table.nanos(decodeWith(32, 2000)) - table.nanos(decode(32, 100)))
                .isCloseTo(1900 * (4 + 100), within(10_000.0));
    }

    /** Returns a step whose rows have 100 positions each, but one row has more. */
    private static StepShape decodeWith(int rows, int longest) {
        return new StepShape(rows, rows, 0, 100L * (rows - 1) + longest, longest);
    }

    @Test
    void few_rows_share_the_work_of_the_longest() {
        assertThat(new StepShape(4, 4, 0, 4000, 1000).unsplit()).isEqualTo(250);
        assertThat(new StepShape(16, 16, 0, 16_000, 1000).unsplit()).isEqualTo(1000);
        assertThat(new StepShape(64, 64, 0, 64_000, 1000).unsplit()).isEqualTo(1000);
    }
}
