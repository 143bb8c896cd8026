package io.roseinfer.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.sampling.SamplingParams.Parameter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SamplerTest {
    /** The increment of {@link io.roseinfer.base.SplitMix64}. */
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private static final TokenHistory NOTHING = new History(new int[0], 0);

    private record History(int[] tokens, int promptLength) implements TokenHistory {
        @Override
        public int length() {
            return tokens.length;
        }

        @Override
        public int token(int index) {
            return tokens[index];
        }
    }

    private static int sample(float[] logits, SamplingParams params, TokenHistory history, long seed, int position) {
        SampleRequest request = new SampleRequest(params, seed, history);
        return new Sampler(logits.length).sample(logits.clone(), 0, OneSample.of(request, position));
    }

    private static int greedy(float... logits) {
        return sample(logits, SamplingParams.greedy(), NOTHING, 0, 0);
    }

    /** Returns the relative frequency of each token over many positions of one stream. */
    private static double[] frequencies(float[] logits, SamplingParams params, TokenHistory history) {
        int draws = 40_000;
        double[] counts = new double[logits.length];
        Sampler sampler = new Sampler(logits.length);
        SampleRequest request = new SampleRequest(params, 42, history);
        for (int position = 0; position < draws; position++) {
            counts[sampler.sample(logits.clone(), 0, OneSample.of(request, position))]++;
        }
        return Arrays.stream(counts).map(c -> c / draws).toArray();
    }

    private static float[] logitsOf(double... probabilities) {
        float[] logits = new float[probabilities.length];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) Math.log(probabilities[i]);
        }
        return logits;
    }

    @Test
    void rank_counts_larger_logits_and_equal_ones_of_lower_ids() {
        float[] logits = {9, 1, 3, 3, 2, Float.NEGATIVE_INFINITY};
        Sampler sampler = new Sampler(5);
        assertThat(IntStream.range(0, 5).map(token -> sampler.rank(logits, 1, token)))
                .containsExactly(4, 1, 2, 3, 5);
    }

    @Test
    void row_without_a_usable_logit_has_no_ranks() {
        Sampler sampler = new Sampler(2);
        float none = Float.NEGATIVE_INFINITY;
        assertThat(sampler.rank(new float[] {none, none}, 0, 0)).isEqualTo(Sampler.NO_TOKEN);
        assertThat(sampler.rank(new float[] {1, Float.NaN}, 0, 0)).isEqualTo(Sampler.NO_TOKEN);
        assertThat(sampler.rank(new float[] {1, Float.POSITIVE_INFINITY}, 0, 0)).isEqualTo(Sampler.NO_TOKEN);
    }

    @Test
    void greedy_chooses_the_largest_logit_and_the_lowest_id_on_a_tie() {
        assertThat(greedy(1, 3, 3, 2)).isEqualTo(1);
        assertThat(greedy(-5, -4, -4)).isEqualTo(1);
    }

    @Test
    void row_with_nan_or_infinity_or_without_a_finite_value_has_no_token() {
        assertThat(greedy(1, Float.NaN, 2)).isEqualTo(Sampler.NO_TOKEN);
        assertThat(greedy(Float.NaN, 1)).isEqualTo(Sampler.NO_TOKEN);
        assertThat(greedy(1, Float.POSITIVE_INFINITY)).isEqualTo(Sampler.NO_TOKEN);
        assertThat(greedy(Float.NEGATIVE_INFINITY, Float.NEGATIVE_INFINITY)).isEqualTo(Sampler.NO_TOKEN);
        assertThat(greedy(Float.NEGATIVE_INFINITY, -1)).isEqualTo(1);
    }

    @Test
    void unfiltered_samples_follow_the_distribution() {
        double[] probabilities = {0.5, 0.25, 0.15, 0.1};
        double[] seen = frequencies(logitsOf(probabilities), SamplingParams.random(), NOTHING);
        for (int i = 0; i < probabilities.length; i++) {
            assertThat(seen[i]).isCloseTo(probabilities[i], within(0.01));
        }
    }

    @Test
    void temperature_scales_the_logits() {
        double[] seen = frequencies(logitsOf(0.6, 0.4), SamplingParams.random().withTemperature(0.5f), NOTHING);
        assertThat(seen[0]).isCloseTo(0.36 / (0.36 + 0.16), within(0.01));
    }

    @Test
    void top_k_keeps_the_k_most_likely_and_renormalizes() {
        double[] seen = frequencies(
                logitsOf(0.1, 0.5, 0.1, 0.3), SamplingParams.random().withTopK(2), NOTHING);
        assertThat(seen[0] + seen[2]).isZero();
        assertThat(seen[1]).isCloseTo(0.625, within(0.01));
    }

    /** The token that crosses p is kept, as in Hugging Face transformers and vLLM. */
    @ParameterizedTest
    @CsvSource({"0.4,1", "0.5,1", "0.7,2", "0.79,2", "0.81,3", "1.0,4"})
    void top_p_keeps_the_crossing_token(float topP, int kept) {
        double[] seen = frequencies(
                logitsOf(0.5, 0.3, 0.15, 0.05), SamplingParams.random().withTopP(topP), NOTHING);
        assertThat(Arrays.stream(seen).filter(f -> f > 0).count()).isEqualTo(kept);
    }

    @Test
    void top_p_reached_exactly_keeps_no_further_token() {
        double[] seen = frequencies(new float[4], SamplingParams.random().withTopP(0.5f), NOTHING);
        assertThat(seen[0] + seen[1]).isEqualTo(1);
    }

    @Test
    void top_p_applies_after_top_k() {
        double[] seen = frequencies(
                logitsOf(0.4, 0.3, 0.2, 0.1),
                SamplingParams.random().withTopK(2).withTopP(0.55f),
                NOTHING);
        assertThat(seen[0]).isEqualTo(1);
    }

    @Test
    void min_p_drops_tokens_unlikely_relative_to_the_most_likely() {
        double[] seen = frequencies(
                logitsOf(0.5, 0.3, 0.15, 0.05), SamplingParams.random().withMinP(0.25f), NOTHING);
        assertThat(seen[2]).isPositive();
        assertThat(seen[3]).isZero();
    }

    /** The sum of their weights may round differently than the sum that top-p compares it with. */
    @Test
    void top_k_above_the_number_of_tokens_that_min_p_leaves_draws_one_of_them() {
        Random random = new Random(3);
        SamplingParams params = SamplingParams.random().withMinP(0.1f).withTopK(49);
        for (int round = 0; round < 1000; round++) {
            float[] logits = new float[50];
            for (int i = 0; i < logits.length; i++) {
                logits[i] = (float) (3 * random.nextGaussian());
            }
            int token = sample(logits, params, NOTHING, round, 0);
            double largest =
                    IntStream.range(0, 50).mapToDouble(i -> logits[i]).max().orElseThrow();
            assertThat(logits[token] - largest).as("round %d", round).isGreaterThanOrEqualTo(Math.log(0.1) - 1e-6);
        }
    }

    /** A token has the numbers from the sum of the weights before it, including that sum. */
    @Test
    void draw_between_two_tokens_takes_the_later_one() {
        Candidates candidates = new Candidates(2);
        candidates.add(0, 1);
        candidates.add(1, 1);
        assertThat(candidates.byId(1)).isOne();
        assertThat(candidates.choose(2, 1, 2, 0.5)).isOne();
    }

    @Test
    void repetition_penalty_divides_positive_and_multiplies_negative_logits_once_per_token() {
        TokenHistory history = new History(new int[] {0, 0, 1}, 2);
        SamplingParams params = SamplingParams.greedy().withRepetitionPenalty(2);
        assertThat(sample(new float[] {3, -1, 1.6f}, params, history, 0, 0)).isEqualTo(2);
        assertThat(sample(new float[] {3, -1, 1.4f}, params, history, 0, 0)).isZero();
        assertThat(sample(new float[] {-9, -1, -1.9f}, params, history, 0, 0)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(floats = {0, 1})
    void penalty_that_leaves_no_usable_logit_gives_no_token(float temperature) {
        TokenHistory history = new History(new int[] {0, 1}, 1);
        SamplingParams params = SamplingParams.greedy().withTemperature(temperature);
        float[] huge = {Float.MAX_VALUE, 1};
        assertThat(sample(huge, params.withRepetitionPenalty(0.5f), history, 0, 0))
                .isEqualTo(Sampler.NO_TOKEN);
        float[] low = {-Float.MAX_VALUE, -Float.MAX_VALUE};
        assertThat(sample(low, params.withRepetitionPenalty(2), history, 0, 0)).isEqualTo(Sampler.NO_TOKEN);
    }

    @Test
    void presence_and_frequency_penalties_count_only_the_completion() {
        TokenHistory history = new History(new int[] {0, 0, 0, 1, 1}, 3);
        SamplingParams frequency = SamplingParams.greedy().withFrequencyPenalty(1);
        assertThat(sample(new float[] {1, 2.9f, 0}, frequency, history, 0, 0)).isZero();
        assertThat(sample(new float[] {1, 3.1f, 0}, frequency, history, 0, 0)).isOne();
        SamplingParams presence = SamplingParams.greedy().withPresencePenalty(1);
        assertThat(sample(new float[] {1, 2.1f, 0}, presence, history, 0, 0)).isOne();
        assertThat(sample(new float[] {1, 1.9f, 0}, presence, history, 0, 0)).isZero();
    }

    @Test
    void draw_is_a_function_of_seed_and_position() {
        float[] logits = new float[100];
        int[] first = IntStream.range(0, 50)
                .map(p -> sample(logits, SamplingParams.random(), NOTHING, 7, p))
                .toArray();
        int[] backwards = IntStream.range(0, 50)
                .map(p -> sample(logits, SamplingParams.random(), NOTHING, 7, 49 - p))
                .toArray();
        int[] otherSeed = IntStream.range(0, 50)
                .map(p -> sample(logits, SamplingParams.random(), NOTHING, 8, p))
                .toArray();
        for (int i = 0; i < 50; i++) {
            assertThat(backwards[49 - i]).isEqualTo(first[i]);
        }
        assertThat(otherSeed).isNotEqualTo(first);
    }

    /** Without mixing, nearby seeds would give the same stream with an offset. */
    @Test
    void streams_of_nearby_seeds_are_not_shifted_copies() {
        float[] logits = new float[100];
        long seed = 7;
        for (int shift = 1; shift <= 20; shift++) {
            long shifted = seed + shift * GOLDEN_GAMMA;
            int by = shift;
            int[] draws = IntStream.range(0, 50)
                    .map(p -> sample(logits, SamplingParams.random(), NOTHING, seed, p + by))
                    .toArray();
            int[] ofShifted = IntStream.range(0, 50)
                    .map(p -> sample(logits, SamplingParams.random(), NOTHING, shifted, p))
                    .toArray();
            assertThat(ofShifted).as("a seed %d steps away", shift).isNotEqualTo(draws);
        }
    }

    /**
     * Two likely tokens among 128, the second the most likely; at temperature 0.02 the others have weights of about
     * e^-745.
     */
    private static float[] twoLikelyAmong(float others) {
        float[] logits = new float[128];
        Arrays.fill(logits, others);
        logits[20] = 9.99f;
        logits[90] = 10;
        return logits;
    }

    @Test
    void tokens_of_zero_weight_do_not_reorder_a_low_temperature_draw() {
        SamplingParams cold = SamplingParams.greedy().withTemperature(0.02f).withTopK(40);
        for (int position = 0; position < 1000; position++) {
            assertThat(sample(twoLikelyAmong(-5), cold, NOTHING, 3, position))
                    .as("draw %d", position)
                    .isEqualTo(sample(twoLikelyAmong(-4), cold, NOTHING, 3, position));
        }
    }

    /** Samples by the documented rule, sorting everything; skips tokens whose exponent is below {@code floor}. */
    private static int draw(float[] logits, SamplingParams params, double floor, long seed, int position) {
        float largest = logits[greedy(logits)];
        double threshold = params.minP() > 0 ? Math.log(params.minP()) : Double.NEGATIVE_INFINITY;
        double[] weights = new double[logits.length];
        for (int i = 0; i < logits.length; i++) {
            double exponent = (logits[i] - largest) / (double) params.temperature();
            weights[i] = exponent >= Math.max(floor, threshold) ? Math.exp(exponent) : 0;
        }
        boolean anyOrder = (params.topK() == 0 || params.topK() >= logits.length) && params.topP() >= 1;
        List<Integer> order = IntStream.range(0, logits.length)
                .filter(i -> weights[i] > 0)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> anyOrder ? 0 : -weights[i]))
                .limit(params.topK() == 0 ? logits.length : params.topK())
                .toList();
        double share =
                params.topP() * order.stream().mapToDouble(i -> weights[i]).sum();
        double kept = 0;
        int count = 0;
        while (count < order.size() && (count == 0 || kept < share)) {
            kept += weights[order.get(count++)];
        }
        double target = kept * SplitMix64.uniform(SplitMix64.mix(seed), position);
        double sum = 0;
        int rank = 0;
        while (rank < count - 1 && (sum += weights[order.get(rank)]) <= target) {
            rank++;
        }
        return order.get(rank);
    }

    /**
     * A device drops tokens with less than e^-87 of the maximum weight, this sampler those that are 0 in double
     * precision.
     */
    @ParameterizedTest
    @CsvSource({
        "0.005, 40, 1, 0",
        "0.02, 40, 1, 0",
        "0.1, 40, 1, 0",
        "1, 40, 1, 0",
        "1, 40, 1, 0.3",
        "0.02, 40, 0.9, 0",
        "0.1, 0, 1, 0",
        "0.02, 128, 1, 0",
        "0.02, 200, 1, 0.1",
        "2, 0, 0.8, 0"
    })
    void draw_is_the_same_on_every_device(float temperature, int topK, float topP, float minP) {
        SamplingParams params = SamplingParams.greedy()
                .withTemperature(temperature)
                .withTopK(topK)
                .withTopP(topP)
                .withMinP(minP);
        Random random = new Random(17);
        for (int position = 0; position < 500; position++) {
            float[] logits = twoLikelyAmong(position % 2 == 0 ? -5 : 9);
            for (int i = 0; i < logits.length; i++) {
                logits[i] += (float) random.nextGaussian() / 16;
            }
            int token = sample(logits, params, NOTHING, 5, position);
            assertThat(draw(logits, params, -87, 5, position))
                    .as("draw %d of a device", position)
                    .isEqualTo(token);
            assertThat(draw(logits, params, -800, 5, position))
                    .as("draw %d", position)
                    .isEqualTo(token);
        }
    }

    private static int constrained(float[] logits, SamplingParams params, UnaryOperator<OneSample> constraint) {
        OneSample sample = OneSample.of(new SampleRequest(params, 0, NOTHING), 0);
        return new Sampler(logits.length).sample(logits, 0, constraint.apply(sample));
    }

    @Test
    void mask_limits_greedy_and_random_samples() {
        float[] logits = {5, 1, 9, 3, 2};
        assertThat(constrained(logits.clone(), SamplingParams.greedy(), sample -> sample.allowing(5, 1, 3)))
                .isEqualTo(3);
        SampleRequest request = new SampleRequest(SamplingParams.random().withTemperature(9), 4, NOTHING);
        Set<Integer> seen = new TreeSet<>();
        for (int position = 0; position < 200; position++) {
            OneSample sample = OneSample.of(request, position).allowing(5, 1, 3, 4);
            seen.add(new Sampler(5).sample(logits.clone(), 0, sample));
        }
        assertThat(seen).containsExactly(1, 3, 4);
    }

    @Test
    void bias_is_added_before_penalties_and_argmax() {
        float[] logits = {5, 1, 9, 3};
        assertThat(constrained(
                        logits.clone(),
                        SamplingParams.greedy(),
                        sample -> sample.withBiases(List.of(1, 2), List.of(100f, -100f))))
                .isEqualTo(1);
        SamplingParams halving = SamplingParams.greedy().withRepetitionPenalty(2);
        SampleRequest request = new SampleRequest(halving, 0, new History(new int[] {1}, 1));
        OneSample sample = OneSample.of(request, 1).withBiases(List.of(1), List.of(19f));
        assertThat(new Sampler(4).sample(logits, 0, sample)).isEqualTo(1);
        assertThat(logits[1]).as("(1 + 19) / 2").isEqualTo(10);
    }

    @Test
    void negative_infinite_bias_forbids_a_token_regardless_of_its_other_bias() {
        float[] logits = {5, 1, 9, 3};
        assertThat(constrained(
                        logits,
                        SamplingParams.greedy(),
                        sample -> sample.withBiases(List.of(2, 2), List.of(50f, Float.NEGATIVE_INFINITY))))
                .isZero();
    }

    @Test
    void sample_without_an_allowed_finite_logit_has_no_allowed_token() {
        float[] logits = {5, Float.NEGATIVE_INFINITY, 9};
        for (SamplingParams params : List.of(SamplingParams.greedy(), SamplingParams.random())) {
            assertThat(constrained(logits.clone(), params, sample -> sample.allowing(3, 1)))
                    .isEqualTo(Sampler.NO_ALLOWED_TOKEN);
            assertThat(constrained(logits.clone(), params, sample -> sample.allowing(3)))
                    .isEqualTo(Sampler.NO_ALLOWED_TOKEN);
        }
        float[] unusable = {5, Float.NaN, 9};
        assertThat(constrained(unusable, SamplingParams.greedy(), sample -> sample.allowing(3, 0)))
                .isEqualTo(Sampler.NO_TOKEN);
    }

    @Test
    void row_is_read_at_its_offset() {
        Sampler sampler = new Sampler(3);
        SampleRequest request = new SampleRequest(SamplingParams.greedy(), 0, NOTHING);
        float[] rows = {9, 0, 0, 0, 0, 9};
        assertThat(sampler.sample(rows, 0, OneSample.of(request, 0))).isZero();
        assertThat(sampler.sample(rows, 3, OneSample.of(request, 0))).isEqualTo(2);
    }

    @Test
    void draw_top_and_sum_read_the_row_at_its_offset() {
        Sampler sampler = new Sampler(3);
        SampleRequest request = new SampleRequest(SamplingParams.random(), 0, NOTHING);
        float[] rows = {90, 0, 0, 0, 0, 90};
        assertThat(sampler.sample(rows, 3, OneSample.of(request, 0))).isEqualTo(2);
        assertThat(sampler.logSumExp(new float[] {90, 90, 90, 1, 1, 1}, 3))
                .isCloseTo((float) (1 + Math.log(3)), within(1e-6f));
        int[] top = new int[1];
        sampler.top(rows, 3, 1, top);
        assertThat(top).containsExactly(2);
    }

    @Test
    void top_lists_the_whole_vocabulary_if_more_tokens_are_requested() {
        int[] top = new int[5];
        new Sampler(3).top(new float[] {1, 3, 2}, 0, 5, top);
        assertThat(top).startsWith(1, 2, 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void top_lists_the_most_likely_first(long seed) {
        Random random = new Random(seed);
        float[] logits = new float[500];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = random.nextInt(50);
        }
        int[] top = new int[20];
        new Sampler(500).top(logits, 0, 20, top);
        int[] expected = IntStream.range(0, 500)
                .boxed()
                .sorted((a, b) -> logits[a] == logits[b] ? Integer.compare(a, b) : Float.compare(logits[b], logits[a]))
                .limit(20)
                .mapToInt(Integer::intValue)
                .toArray();
        assertThat(top).as("seed %d", seed).isEqualTo(expected);
    }

    @Test
    void log_sum_exp_does_not_overflow() {
        assertThat(new Sampler(2).logSumExp(new float[] {1000, 1000}, 0))
                .isCloseTo((float) (1000 + Math.log(2)), within(1e-3f));
    }

    @ParameterizedTest
    @EnumSource
    void every_parameter_changes_the_samples(Parameter parameter) {
        float[] logits = logitsOf(0.4, 0.3, 0.2, 0.1);
        TokenHistory history = new History(new int[] {0, 1, 1}, 1);
        SamplingParams changed = parameter.set(SamplingParams.random(), parameter.isInteger() ? 2 : 0.5);
        assertThat(frequencies(logits, changed, history))
                .isNotEqualTo(frequencies(logits, SamplingParams.random(), history));
    }
}
