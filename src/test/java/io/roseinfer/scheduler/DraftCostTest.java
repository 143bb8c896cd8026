package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DraftCostTest {
    private static final int MAX_TOKENS = 64;
    private static final double LEVEL = 5_000_000;
    private static final int MAX_DRAFTS = 15;

    private final DraftCost learned = new DraftCost(MAX_TOKENS);

    private void step(int rows, int tokens, int prefillRows, double nanos) {
        WritableStep step = new WritableStep();
        step.set(Fact.ROWS, rows);
        step.set(Fact.TOKENS, tokens);
        step.set(Fact.DECODE_ROWS, rows - prefillRows);
        learned.learn(step, Math.round(nanos));
    }

    /** Runs steps of random drafts, whose durations scatter by 5 %. */
    private void run(double level, double cost, long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            int tokens = 1 + random.nextInt(8);
            step(1, tokens, 0, level * (1 + cost * (tokens - 1)) * random.nextDouble(0.95, 1.05));
        }
    }

    /** Returns the number of drafts with the most tokens per time. */
    private static int best(double cost, int rows, double acceptance) {
        return IntStream.rangeClosed(0, MAX_DRAFTS)
                .boxed()
                .max((a, b) -> Double.compare(rate(cost, rows, a, acceptance), rate(cost, rows, b, acceptance)))
                .orElseThrow();
    }

    private static double rate(double cost, int rows, int drafts, double acceptance) {
        double tokens = IntStream.rangeClosed(0, drafts)
                .mapToDouble(i -> Math.pow(acceptance, i))
                .sum();
        return tokens / (1 + cost * (rows * (1 + drafts) - 1));
    }

    @ParameterizedTest
    @CsvSource({
        "0.01, 1, 0.5",
        "0.01, 1, 0.9",
        "0.01, 8, 0.7",
        "0.1, 1, 0.3",
        "0.1, 1, 0.8",
        "0.1, 8, 0.8",
        "0.4, 1, 0.3",
        "0.4, 1, 0.9",
        "0.4, 8, 0.5"
    })
    void measured_steps_teach_the_best_number_of_drafts(double cost, int rows, double acceptance) {
        run(LEVEL, cost, 7);
        int chosen = learned.bestDrafts(rows, MAX_DRAFTS, acceptance);
        assertThat(rate(cost, rows, chosen, acceptance))
                .isGreaterThan(0.98 * rate(cost, rows, best(cost, rows, acceptance), acceptance));
    }

    /** Host code that is not compiled yet makes the first steps slow. */
    @Test
    void slow_steps_at_the_beginning_are_forgotten() {
        run(10 * LEVEL, 0.02, 1);
        run(LEVEL, 0.3, 2);
        assertThat(learned.bestDrafts(1, MAX_DRAFTS, 0.5)).isEqualTo(best(0.3, 1, 0.5));
    }

    @Test
    void steps_of_equal_size_change_no_cost() {
        int before = learned.bestDrafts(1, MAX_DRAFTS, 0.9);
        for (int i = 0; i < 100; i++) {
            step(1, 8, 0, LEVEL * (1 + i));
        }
        assertThat(learned.bestDrafts(1, MAX_DRAFTS, 0.9)).isEqualTo(before);
    }

    @Test
    void steps_with_prompts_teach_nothing() {
        run(LEVEL, 0.1, 3);
        for (int i = 0; i < 100; i++) {
            step(2, 1 + i % 60, 1, LEVEL * (100 + 50 * (i % 60)));
        }
        assertThat(learned.bestDrafts(1, MAX_DRAFTS, 0.8)).isBetween(best(0.12, 1, 0.8), best(0.08, 1, 0.8));
    }

    @Test
    void interrupted_step_counts_as_if_it_took_twice_as_long_as_expected() {
        run(LEVEL, 0.1, 4);
        step(1, 8, 0, 1000 * LEVEL);
        assertThat(learned.bestDrafts(1, MAX_DRAFTS, 0.8)).isBetween(best(0.2, 1, 0.8), best(0.08, 1, 0.8));
    }
}
