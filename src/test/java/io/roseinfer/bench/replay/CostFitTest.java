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

    /** What a step truly takes: decode like a memory-bound product up to eight rows and steeper beyond, prompts by their tokens. */
    private static double truth(StepShape shape) {
        return shape.isDecode()
                ? 1e6 + 2e4 * shape.rows() + 3e5 * Math.max(0, shape.rows() - 8) + 40.0 * shape.attended()
                : 2e6 + 1e4 * shape.tokens() + 5e5 * shape.rows() + 30.0 * shape.attended();
    }

    private static StepShape decode(int rows, long context) {
        return new StepShape(rows, rows, 0, rows * context);
    }

    private static StepShape prompts(int rows, int length) {
        return new StepShape(rows, rows * length, rows * length, rows * (long) length * (length + 1) / 2);
    }

    /** Steps of all kinds with noise about their length, and one in fifty that something else has held up. */
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
    void steps_cost_what_they_took() {
        CostTable table = CostFit.fit(samples(0));
        for (StepShape shape :
                List.of(decode(1, 50), decode(8, 800), decode(13, 400), prompts(1, 40), prompts(3, 120))) {
            assertThat(table.nanos(shape)).as("%s", shape).isCloseTo(truth(shape), within(0.03 * truth(shape)));
        }
    }

    @Test
    void noise_and_outliers_change_little() {
        CostTable table = CostFit.fit(samples(0.05));
        for (StepShape shape :
                List.of(decode(1, 50), decode(8, 800), decode(13, 400), prompts(1, 40), prompts(3, 120))) {
            assertThat(table.nanos(shape)).as("%s", shape).isCloseTo(truth(shape), within(0.05 * truth(shape)));
        }
    }

    @Test
    void more_rows_never_cost_less() {
        CostTable table = CostFit.fit(samples(0.3));
        double before = 0;
        for (int rows = 1; rows <= 40; rows++) {
            double nanos = table.nanos(decode(rows, 100));
            assertThat(nanos).as("%d rows", rows).isGreaterThanOrEqualTo(before);
            before = nanos;
        }
    }

    @Test
    void a_run_without_decode_steps_says_what_is_missing() {
        List<CostFit.Sample> prompts =
                samples(0).stream().filter(sample -> !sample.shape().isDecode()).toList();
        assertThatThrownBy(() -> CostFit.fit(prompts))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("no step that only decodes");
    }
}
