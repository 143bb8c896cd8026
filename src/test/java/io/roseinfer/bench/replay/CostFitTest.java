package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    /** Returns the steps without noise that only decode, or the others. */
    private static List<CostFit.Sample> samples(boolean decode) {
        return samples(0).stream()
                .filter(sample -> sample.shape().isDecode() == decode)
                .toList();
    }

    /** A mixed step costs at least its decode rows alone, which took longer here. */
    @Test
    void costs_that_are_not_those_measured_are_rejected() {
        List<CostFit.Sample> samples = new ArrayList<>(samples(0));
        for (int i = 0; i < 40; i++) {
            samples.add(new CostFit.Sample(mixed(16, 64 + i), 1e6));
        }
        assertThatThrownBy(() -> CostFit.fit(samples))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("times the measured durations of mixed steps");
    }

    /** With chunked prefill, hardly any step computes prompts alone. */
    @Test
    void one_slow_prompt_does_not_reject_a_recording_of_mixed_steps() {
        List<CostFit.Sample> samples = new ArrayList<>(samples(true));
        for (int i = 0; i < 400; i++) {
            StepShape shape = mixed(1 + i % 16, 64 + i % 200);
            samples.add(new CostFit.Sample(shape, 8e6 + 2e4 * shape.tokens()));
        }
        samples.add(new CostFit.Sample(prompts(1, 100), 9e7));
        assertThat(CostFit.fit(samples).mixed()).isPresent();
    }

    @Test
    void costs_of_skewed_steps_note_their_total() {
        List<CostFit.Sample> even = samples(0);
        List<CostFit.Sample> skewed = new ArrayList<>();
        for (int i = 0; i < even.size(); i++) {
            CostFit.Sample sample = even.get(i);
            skewed.add(new CostFit.Sample(sample.shape(), sample.nanos() * (i % 9 == 0 ? 6 : 1)));
        }
        assertThat(CostFit.skew(CostFit.fit(even), even)).isEmpty();
        assertThat(CostFit.skew(CostFit.fit(skewed), skewed))
                .hasValueSatisfying(note -> assertThat(note).contains("took 1.5", "times as long in total"));
    }

    /** Half of the prompts are delayed by another process. */
    @Test
    void few_noisy_prompts_determine_no_cost_per_row_or_position() {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>(samples(true));
        for (int i = 0; i < 200; i++) {
            StepShape shape = prompts(i % 20 == 0 ? 2 : 1, 20 + random.nextInt(140));
            double delay = random.nextBoolean() ? 0 : 4 * random.nextDouble();
            samples.add(new CostFit.Sample(shape, 1e5 * shape.tokens() * (1 + delay)));
        }
        CostTable table = CostFit.fit(samples);
        for (int length : List.of(40, 80, 120)) {
            assertThat(table.nanos(prompts(1, length))).isBetween(1e5 * length, 2.5e5 * length);
        }
    }

    @Test
    void run_without_decode_steps_is_rejected() {
        List<CostFit.Sample> prompts = samples(false);
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
    void mixed_steps_cost_positions_of_decode_rows_and_of_prompts_apart() {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            int rows = 1 + random.nextInt(64);
            int tokens = 16 + random.nextInt(500);
            long ofDecode = rows * (100L + random.nextInt(3000));
            long ofPrompt = tokens * (tokens + 1L) / 2 + tokens * (long) random.nextInt(2000);
            for (StepShape shape : List.of(
                    new StepShape(rows, rows, 0, ofDecode, ofDecode / rows),
                    new StepShape(1, tokens, tokens, ofPrompt, 0),
                    new StepShape(
                            rows + 1, rows + tokens, tokens, ofDecode + ofPrompt, ofDecode, ofDecode / rows, 0))) {
                samples.add(new CostFit.Sample(
                        shape,
                        2e6
                                + 1e4 * shape.tokens()
                                + 30.0 * shape.decodeAttended()
                                + 0.5 * (shape.attended() - shape.decodeAttended())));
            }
        }
        CostTable.Formula mixed = CostFit.fit(samples).mixed().orElseThrow();
        assertThat(mixed.attention().nanos(decode(32, 1000))).isCloseTo(30 * 32_000, withinPercentage(3));
        assertThat(mixed.perPromptAttended()).isCloseTo(0.5, within(0.1));
    }

    @Test
    void mixed_steps_that_were_not_measured_cost_the_attention_of_their_decode_rows() {
        CostTable table = CostFit.fit(samples(0));
        assertThat(table.mixed()).isEmpty();
        StepShape ofShort = new StepShape(9, 108, 100, 8 * 200 + 5050, 8 * 200, 200, 0);
        StepShape ofLong = new StepShape(9, 108, 100, 8 * 5000 + 5050, 8 * 5000, 5000, 0);
        assertThat(table.nanos(ofShort)).isGreaterThan(table.nanos(prompts(1, 100)));
        assertThat(table.nanos(ofLong) - table.nanos(ofShort)).isCloseTo(40.0 * 8 * (5000 - 200), withinPercentage(10));
    }

    @ParameterizedTest
    @CsvSource({"15, false", "16, true"})
    void mixed_steps_are_within_the_range_if_enough_were_measured_to_fit_them(int measured, boolean contained) {
        List<CostFit.Sample> samples = new ArrayList<>(samples(0));
        for (int i = 0; i < measured; i++) {
            samples.add(new CostFit.Sample(mixed(8, 100), 9e6));
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.range().contains(mixed(8, 100))).isEqualTo(contained);
        assertThat(table.times(2).range()).isEqualTo(table.range());
    }

    /** Some prompts of two lengths: their rows and positions hardly vary among steps of like width. */
    @Test
    void noise_of_few_prompts_is_no_cost_of_rows() {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>(samples(true));
        for (int i = 0; i < 20; i++) {
            StepShape shape = i % 5 == 0 ? prompts(1, 396) : prompts(1 + i % 4, 384);
            samples.add(new CostFit.Sample(shape, 1.5e5 * shape.tokens() * Math.exp(0.3 * random.nextGaussian())));
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.prefill().perRow()).isZero();
        assertThat(table.nanos(prompts(1, 384))).isCloseTo(1.5e5 * 384, within(0.5 * 1.5e5 * 384));
        assertThat(table.nanos(prompts(3, 384))).isCloseTo(1.5e5 * 1152, within(0.5 * 1.5e5 * 1152));
    }

    @Test
    void tokens_computed_again_are_of_a_prompt() {
        WritableStep step = new WritableStep();
        step.set(Fact.ROWS, 1);
        step.set(Fact.TOKENS, 479);
        step.set(Fact.PREFILL_TOKENS, 384);
        step.set(Fact.RECOMPUTED_TOKENS, 478);
        StepShape shape = StepShape.of(step);
        assertThat(shape.prefillTokens()).isEqualTo(479);
        assertThat(shape.isMixed()).isFalse();
    }

    /** One more token than a wave of tiles has costs another wave. */
    @Test
    void stair_at_a_power_of_two_is_kept() {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>(samples(true));
        for (int i = 0; i < 2000; i++) {
            StepShape shape = prompts(1, 800 + random.nextInt(500));
            samples.add(new CostFit.Sample(shape, shape.tokens() <= 1024 ? 2.4e6 : 3.5e6));
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.nanos(prompts(1, 1020))).isCloseTo(2.4e6, within(1e4));
        assertThat(table.nanos(prompts(1, 1030))).isCloseTo(3.5e6, within(1e4));
    }

    /** Returns steps whose decode rows take a base, and what their attention costs. */
    private static List<CostFit.Sample> decodeSamples(DecodeAttention attention) {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>(samples(false));
        for (int i = 0; i < 6000; i++) {
            StepShape shape = decodeWith(1 + random.nextInt(64), 100 + random.nextInt(3000));
            samples.add(new CostFit.Sample(shape, 1e6 + 2e4 * shape.rows() + attention.nanos(shape)));
        }
        return samples;
    }

    @Test
    void cost_of_the_longest_row_is_fitted_for_each_number_of_rows() {
        DecodeAttention truth = new DecodeAttention(List.of(16, 64), List.of(8.0, 4.0), List.of(50.0, 100.0), 4);
        CostTable table = CostFit.fit(decodeSamples(truth));
        for (int rows : List.of(8, 12, 16, 24, 48, 60)) {
            assertThat(table.nanos(decodeWith(rows, 3000)) - table.nanos(decodeWith(rows, 100)))
                    .as("%d rows", rows)
                    .isCloseTo(
                            truth.nanos(decodeWith(rows, 3000)) - truth.nanos(decodeWith(rows, 100)),
                            withinPercentage(4));
        }
    }

    @Test
    void numbers_of_rows_without_steps_cost_as_the_next_measured_ones() {
        DecodeAttention truth = new DecodeAttention(List.of(4, 64), List.of(30.0, 16.0), List.of(0.0, 0.0), 4);
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>(samples(false));
        for (int i = 0; i < 4000; i++) {
            int rows = i % 20 == 0 ? 5 + random.nextInt(12) : 1 + random.nextInt(4);
            StepShape shape = decode(rows, 100 + random.nextInt(3000));
            samples.add(new CostFit.Sample(shape, 1e6 + truth.nanos(shape)));
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.nanos(decode(64, 3000)) - table.nanos(decode(64, 1000)))
                .isCloseTo(16.0 * 64 * 2000, withinPercentage(6));
    }

    /** Returns decode steps, each followed by a mixed step whose launch hides the end of every decode step shorter than it. */
    private static List<CostFit.Sample> launchedInTurns(double launchNanos) {
        List<CostFit.Sample> samples = new ArrayList<>(samples(0));
        for (int i = 0; i < 9000; i++) {
            StepShape decode = decode(1 + i % 16, 20 + i % 900);
            StepShape mixed = mixed(2 + i % 16, 64 + i % 200);
            double late = Math.max(0, launchNanos - truth(decode));
            samples.add(new CostFit.Sample(decode, truth(decode) + late, true));
            samples.add(new CostFit.Sample(mixed, 9e6 + 2e3 * mixed.tokens() - late));
        }
        return samples;
    }

    @Test
    void end_noticed_late_belongs_to_the_next_step() {
        CostTable table = CostFit.fit(launchedInTurns(2.2e6));
        for (int rows : List.of(2, 6, 14)) {
            assertThat(table.nanos(decode(rows, 400)))
                    .as("%d decode rows", rows)
                    .isCloseTo(truth(decode(rows, 400)), withinPercentage(2));
            StepShape mixed = mixed(rows, 128);
            assertThat(table.nanos(mixed))
                    .as("%d decode rows and a prompt", rows)
                    .isCloseTo(9e6 + 2e3 * mixed.tokens(), withinPercentage(2));
        }
    }

    /** The host sees the end of a step in flight after it has launched the next one. */
    @Test
    void only_decode_steps_that_end_after_the_launch_of_a_prompt_began_may_be_late() {
        StepRecord decode = step(0, 100, 0);
        assertThat(late(decode, step(60, 100, 64))).containsExactly(true, false);
        assertThat(late(decode, step(60, 100, 0))).containsExactly(false, false);
        assertThat(late(decode, step(101, 100, 64))).containsExactly(false, false);
        assertThat(late(step(0, 100, 64), step(60, 100, 64))).containsExactly(false, false);
    }

    private static List<Boolean> late(StepRecord... steps) {
        return RecordedRun.samplesOf(List.of(steps)).stream()
                .map(CostFit.Sample::late)
                .toList();
    }

    /** Returns a step of four decode rows and a prompt of a number of tokens, if any. */
    private static StepRecord step(long startNanos, long deviceNanos, int promptTokens) {
        WritableStep step = new WritableStep();
        step.set(Fact.START_NANOS, startNanos);
        step.set(Fact.DEVICE_NANOS, deviceNanos);
        step.set(Fact.ROWS, promptTokens > 0 ? 5 : 4);
        step.set(Fact.DECODE_ROWS, 4);
        step.set(Fact.TOKENS, 4 + promptTokens);
        step.set(Fact.PREFILL_TOKENS, promptTokens);
        return step;
    }

    @Test
    void late_ends_determine_the_costs_if_there_are_few_others() {
        List<CostFit.Sample> samples = new ArrayList<>(launchedInTurns(0));
        samples.removeIf(sample -> sample.shape().isDecode() && !sample.late());
        assertThat(CostFit.fit(samples).nanos(decode(6, 400))).isCloseTo(truth(decode(6, 400)), withinPercentage(5));
    }

    @Test
    void chunk_costs_the_positions_before_it() {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            samples.add(new CostFit.Sample(decode(8, 20 + i), truth(decode(8, 20 + i))));
            samples.add(new CostFit.Sample(prompts(1, 16 + i % 300), 2e6 + 1e3 * (i % 300)));
            StepShape shape = chunk(64 + random.nextInt(200), random.nextInt(4) * 1000);
            samples.add(new CostFit.Sample(shape, 9e6 + 2e3 * shape.tokens() + 300 * shape.past()));
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.nanos(chunk(128, 3000)) - table.nanos(chunk(128, 0)))
                .isCloseTo(300 * 3000.0, withinPercentage(3));
    }

    /** Returns a step of 8 decode rows of 100 positions and a chunk of a prompt after a number of positions. */
    private static StepShape chunk(int tokens, int past) {
        long attended = (long) tokens * past + (long) tokens * (tokens + 1) / 2;
        return new StepShape(9, 8 + tokens, tokens, 800 + attended, 800, 100, 0);
    }

    @Test
    void past_is_the_position_at_which_a_chunk_begins() {
        assertThat(chunk(128, 3000).past()).isEqualTo(3000);
        assertThat(prompts(4, 100).past()).isZero();
        assertThat(decode(4, 100).past()).isZero();
    }

    @Test
    void decode_steps_of_a_larger_band_may_cost_less() {
        List<CostFit.Sample> samples = new ArrayList<>();
        for (int i = 0; i < 3200; i++) {
            int rows = 1 + i % 32;
            samples.add(new CostFit.Sample(decode(rows, 100), rows <= 16 ? 1.5e6 : 1e6));
            samples.add(new CostFit.Sample(prompts(1, 16 + i % 100), 2e6));
        }
        CostTable table = CostFit.fit(samples);
        assertThat(table.nanos(decode(16, 100))).isCloseTo(1.5e6, withinPercentage(2));
        assertThat(table.nanos(decode(17, 100))).isCloseTo(1e6, withinPercentage(2));
    }

    /** The steps of prompts have short decode rows only. */
    @Test
    void decode_rows_attend_at_the_same_cost_beside_prompts() {
        DecodeAttention truth = new DecodeAttention(List.of(64), List.of(4.0), List.of(100.0), 4);
        List<CostFit.Sample> samples = decodeSamples(truth);
        for (int i = 0; i < 400; i++) {
            StepShape shape = mixed(1 + i % 16, 64 + i % 200);
            samples.add(new CostFit.Sample(shape, 3e6 + 2e4 * shape.tokens() + truth.nanos(shape)));
        }
        StepShape one = mixed(16, 100);
        StepShape longer = new StepShape(
                one.rows(),
                one.tokens(),
                one.prefillTokens(),
                one.attended() + 20_000,
                one.decodeAttended() + 20_000,
                20_100,
                0);
        CostTable table = CostFit.fit(samples);
        assertThat(table.mixed()).isPresent();
        assertThat(table.nanos(longer) - table.nanos(one))
                .isCloseTo(truth.nanos(longer) - truth.nanos(one), withinPercentage(4));
    }

    @Test
    void steps_with_a_rare_long_row_are_no_outliers() {
        Random random = new Random(SEED);
        List<CostFit.Sample> samples = new ArrayList<>(samples(false));
        for (int i = 0; i < 2000; i++) {
            StepShape shape = decodeWith(17 + random.nextInt(48), i % 10 == 0 ? 20_000 : 100);
            double nanos = 1e6 + 2e4 * shape.rows() + 4.0 * shape.attended() + 400 * shape.longest();
            samples.add(new CostFit.Sample(shape, nanos * Math.exp(0.02 * random.nextGaussian())));
        }
        StepShape step = decodeWith(32, 20_000);
        assertThat(CostFit.fit(samples).nanos(step))
                .isCloseTo(1e6 + 2e4 * 32 + 4.0 * step.attended() + 400 * 20_000, within(3e5));
    }

    /** Returns a step whose rows have 100 positions each, but one row has more. */
    private static StepShape decodeWith(int rows, int longest) {
        return new StepShape(rows, rows, 0, 100L * (rows - 1) + longest, longest);
    }

    @Test
    void attention_ends_with_the_longest_row_or_with_the_sum() {
        DecodeAttention attention = new DecodeAttention(List.of(16, 64), List.of(25.0, 25.0), List.of(200.0, 400.0), 4);
        assertThat(attention.nanos(decode(64, 1000))).isCloseTo(25 * 64_000, within(2000.0));
        assertThat(attention.nanos(decodeWith(64, 30_000))).isCloseTo(400 * 30_000, within(2000.0));
        assertThat(attention.nanos(decodeWith(16, 30_000))).isCloseTo(200 * 30_000, within(2000.0));
        assertThat(attention.nanos(decodeWith(100, 30_000))).isCloseTo(400 * 30_000, within(2000.0));
        assertThat(attention.nanos(prompts(2, 100))).isZero();
    }

    @Test
    void larger_exponent_is_closer_to_the_maximum() {
        for (int exponent : List.of(4, 8)) {
            DecodeAttention attention = new DecodeAttention(List.of(64), List.of(1.0), List.of(10.0), exponent);
            assertThat(attention.nanos(decode(10, 1000)))
                    .isCloseTo(10_000 * Math.pow(2, 1.0 / exponent), withinPercentage(0.01));
        }
    }

    @Test
    void exponent_of_one_adds_the_longest_row_to_the_sum() {
        DecodeAttention attention = new DecodeAttention(List.of(64), List.of(25.0), List.of(400.0), 1);
        assertThat(attention.nanos(decode(64, 1000))).isEqualTo(25 * 64_000 + 400 * 1000);
    }
}
