package io.roseinfer.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.replay.HostTimes;
import io.roseinfer.bench.replay.Pace;
import io.roseinfer.bench.replay.SimulatedRuns;
import io.roseinfer.bench.replay.StepTimes;
import io.roseinfer.bench.report.Objectives;
import io.roseinfer.bench.report.RunMetrics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Complete experiments in simulated time, with noise in every step and a separate load for every pair. */
class ComparisonTest {
    private static final int PAIRS = 20;
    private static final int TRIES = 20;
    private static final double STEP_NOISE = 0.05;
    private static final double RUN_NOISE = 0.01;
    private static final String METRIC = "median_e2el_ms";

    /** Returns an arm with noise per run in addition to noise per step. */
    private static Comparison.Arm arm(double scale, long experiment, long arm) {
        return seed -> {
            long key = SplitMix64.at(SplitMix64.at(experiment, arm), seed);
            double whole = 1 + RUN_NOISE * new Random(key).nextGaussian();
            StepTimes times = new StepTimes(
                    SimulatedRuns.costs().times(scale * whole), Pace.logNormal(STEP_NOISE, key), HostTimes.NONE);
            LoadResult run = SimulatedRuns.server(times, key).run(SimulatedRuns.load(40, 60, seed));
            return Optional.of(RunMetrics.of(run, Objectives.NONE));
        };
    }

    private static PairedRatio experiment(double scale, long experiment) {
        Comparison.Pairs pairs = new Comparison.Pairs(arm(1, experiment, 0), arm(scale, experiment, 1));
        for (int i = 0; i < PAIRS; i++) {
            assertThat(pairs.measure(1000 * experiment + i)).isTrue();
        }
        return Objects.requireNonNull(Comparison.of(pairs.all()).ratios().get(METRIC));
    }

    @Test
    void planted_slowdown_of_three_percent_is_found_in_twenty_pairs() {
        long found = LongStream.range(0, TRIES)
                .filter(experiment -> experiment(1.03, experiment).low() > 1)
                .count();
        assertThat(found).isGreaterThanOrEqualTo(TRIES - 1);
    }

    @Test
    void equal_arms_are_equal_in_nineteen_of_twenty_comparisons() {
        long even = LongStream.range(0, TRIES)
                .filter(experiment -> experiment(1, experiment).isEven())
                .count();
        assertThat(even).isGreaterThanOrEqualTo(TRIES * 19 / 20);
    }

    @Test
    void metric_with_a_zero_has_a_row_without_a_ratio() {
        List<Comparison.Pair> pairs = LongStream.range(0, Comparison.MIN_PAIRS)
                .mapToObj(seed -> new Comparison.Pair(
                        seed,
                        Map.of("median_itl_ms", seed == 0 ? 0.0 : 2.0, METRIC, 5.0 + seed),
                        Map.of("median_itl_ms", 3.0, METRIC, 6.0 + seed)))
                .toList();
        var arms = new ComparisonResult.Arms(List.of(), List.of(), METRIC, 0, 0);
        assertThat(ComparisonReport.text(Comparison.of(pairs), arms, List.of(99.0)))
                .containsPattern("median_itl_ms +2\\.000 +3\\.000 +–  0 in some run\n");
    }

    @Test
    void arms_alternate_in_abba_blocks_with_one_load_per_pair() {
        List<String> order = new ArrayList<>();
        Comparison.Pairs pairs = new Comparison.Pairs(recording("A", order), recording("B", order));
        for (int i = 0; i < 4; i++) {
            assertThat(pairs.measure(i)).isTrue();
        }
        assertThat(order).containsExactly("A0", "B0", "B1", "A1", "A2", "B2", "B3", "A3");
    }

    private static Comparison.Arm recording(String name, List<String> order) {
        return seed -> {
            order.add(name + seed);
            return Optional.of(Map.of("x", name.equals("A") ? 1.0 : 2.0));
        };
    }

    @Test
    void pair_with_an_invalid_run_is_repeated_in_the_same_order() {
        List<String> order = new ArrayList<>();
        Comparison.Arm a = recording("A", order);
        Comparison.Pairs pairs =
                new Comparison.Pairs(seed -> seed == 1 ? Optional.empty() : a.measure(seed), recording("B", order));
        assertThat(LongStream.range(0, 3).mapToObj(pairs::measure)).containsExactly(true, false, true);
        assertThat(order).containsExactly("A0", "B0", "B1", "B2", "A2");
        assertThat(pairs.discarded()).isEqualTo(1);
        assertThat(pairs.all()).extracting(Comparison.Pair::seed).containsExactly(0L, 2L);
    }

    @Test
    void higher_latency_and_lower_rate_are_worse() {
        Comparison comparison = constant(
                PAIRS,
                Map.of("median_ttft_ms", 10.0, "output_throughput", 10.0),
                Map.of("median_ttft_ms", 10.5, "output_throughput", 9.5));
        assertThat(comparison.judge("median_ttft_ms", 0.04)).isEqualTo(Comparison.Outcome.WORSE);
        assertThat(comparison.judge("median_ttft_ms", 0.06)).isEqualTo(Comparison.Outcome.NOT_WORSE);
        assertThat(comparison.judge("output_throughput", 0.04)).isEqualTo(Comparison.Outcome.WORSE);
        assertThat(comparison.judge("output_throughput", 0.06)).isEqualTo(Comparison.Outcome.NOT_WORSE);
    }

    @Test
    void verdict_says_which_arm_is_better() {
        Comparison comparison = constant(
                PAIRS, Map.of(METRIC, 10.0, "output_throughput", 10.0), Map.of(METRIC, 5.0, "output_throughput", 9.9));
        assertThat(verdict(comparison, METRIC, 0))
                .isEqualTo("B is better: median_e2el_ms changes by -50.00 % (-50.00 to -50.00)");
        assertThat(verdict(comparison, "output_throughput", 0.02))
                .isEqualTo("B is worse: output_throughput changes by -1.00 % (-1.00 to -1.00); 2.0 % are allowed");
    }

    private static String verdict(Comparison comparison, String metric, double noWorseThan) {
        return ComparisonReport.verdict(
                comparison, new ComparisonResult.Arms(List.of(), List.of(), metric, noWorseThan, 0));
    }

    @Test
    void forced_admissions_of_an_arm_are_noted() {
        Comparison comparison = constant(
                PAIRS,
                Map.of(METRIC, 10.0, "forced_admissions", 0.0),
                Map.of(METRIC, 5.0, "forced_admissions", 1298.0));
        assertThat(ComparisonReport.text(
                        comparison, new ComparisonResult.Arms(List.of(), List.of(), METRIC, 0, 0), List.of(99.0)))
                .contains(
                        "Note: B: up to 1298 admissions of a run were forced by --max-passes, not chosen by the admission policy; --max-passes none lifts the limit")
                .doesNotContain("Note: A");
    }

    @Test
    void metric_that_is_identical_in_every_pair_has_no_detectable_change() {
        Comparison comparison = constant(PAIRS, Map.of(METRIC, 10.0), Map.of(METRIC, 10.0));
        assertThat(ComparisonReport.text(
                        comparison, new ComparisonResult.Arms(List.of(), List.of(), METRIC, 0, 0), List.of(99.0)))
                .containsPattern("median_e2el_ms +10\\.000 +10\\.000 +1\\.0000  identical in every pair\n")
                .endsWith(
                        "No difference shown in median_e2el_ms: identical in every pair, so the flags of the arms have no effect on it\n")
                .doesNotContain("0.00 %");
    }

    @Test
    void extrapolated_time_of_an_arm_is_noted_and_has_no_ratio() {
        Comparison comparison = constant(
                PAIRS,
                Map.of(METRIC, 10.0, SweepPoint.EXTRAPOLATED_SHARE, 0.0004),
                Map.of(METRIC, 5.0, SweepPoint.EXTRAPOLATED_SHARE, 0.734));
        assertThat(comparison.ratios()).doesNotContainKey(SweepPoint.EXTRAPOLATED_SHARE);
        assertThat(ComparisonReport.notes(comparison.pairs()))
                .containsExactly(
                        "B: up to 73.4 % of a run's simulated time is in steps outside the recorded range; their costs are extrapolated");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0.05 | 0.05 | B is better: median_e2el_ms changes by -50.00 % (-50.00 to -50.00)",
                "0.0 | 0.477 | Undecided: up to 47.7 % of B's simulated time is extrapolated (~); record such steps for --step-costs",
                "0.06 | 0.477 | Undecided: up to 6.0 % of A's and 47.7 % of B's simulated time is extrapolated (~); record such steps for --step-costs"
            })
    void no_arm_is_better_if_over_5_percent_of_its_time_is_extrapolated(double a, double b, String verdict) {
        Comparison comparison = constant(
                PAIRS,
                Map.of(METRIC, 10.0, "output_throughput", 10.0, SweepPoint.EXTRAPOLATED_SHARE, a),
                Map.of(METRIC, 5.0, "output_throughput", 5.0, SweepPoint.EXTRAPOLATED_SHARE, b));
        assertThat(verdict(comparison, METRIC, 0)).isEqualTo(verdict);
        assertThat(comparison.judge("output_throughput", 0))
                .isEqualTo(b > 0.05 ? Comparison.Outcome.UNDECIDED : Comparison.Outcome.WORSE);
    }

    @Test
    void columns_of_extrapolated_arms_are_marked() {
        Comparison comparison = constant(
                PAIRS,
                Map.of(METRIC, 10.0, SweepPoint.EXTRAPOLATED_SHARE, 0.01),
                Map.of(METRIC, 5.0, SweepPoint.EXTRAPOLATED_SHARE, 0.477));
        var arms = new ComparisonResult.Arms(List.of(), List.of(), METRIC, 0, 0);
        assertThat(ComparisonReport.text(comparison, arms, List.of()))
                .containsPattern("metric +median A +median B~ +B / A~ ");
    }

    @Test
    void result_and_its_rows_say_that_extrapolated_time_leaves_them_undecided() {
        Comparison comparison = constant(
                PAIRS,
                Map.of(METRIC, 10.0, SweepPoint.EXTRAPOLATED_SHARE, 0.01),
                Map.of(METRIC, 15.0, SweepPoint.EXTRAPOLATED_SHARE, 0.477));
        ComparisonResult result = ComparisonResult.of(
                comparison,
                new ComparisonResult.Arms(List.of(), List.of(), METRIC, 0, 0),
                new Study(List.of(), List.of(), Objectives.NONE, List.of(), List.of()));
        assertThat(result.roseinfer().worse()).isEmpty();
        assertThat(result.roseinfer().extrapolated()).containsExactly("b");
        assertThat(result.table())
                .allSatisfy(row -> assertThat(row.get("verdict"))
                        .isEqualTo(result.roseinfer().verdict().orElseThrow())
                        .startsWith("Undecided: up to 47.7 % of B's"));
    }

    /** Returns a comparison of pairs in which the given metrics are constant and another one varies. */
    private static Comparison constant(int pairs, Map<String, Double> a, Map<String, Double> b) {
        return Comparison.of(LongStream.range(0, pairs)
                .mapToObj(seed -> new Comparison.Pair(seed, with(a, seed), with(b, seed)))
                .toList());
    }

    private static Map<String, Double> with(Map<String, Double> metrics, long seed) {
        Map<String, Double> more = new LinkedHashMap<>(metrics);
        more.put("p90_itl_ms", 1.0 + seed);
        return more;
    }

    /** A recorded trace on step costs without noise: the pairs are one run, which says nothing of another one. */
    @Test
    void equal_pairs_have_no_interval_and_no_verdict() {
        Map<String, Double> a = Map.of(METRIC, 10.0, "output_throughput", 10.0);
        Map<String, Double> b = Map.of(METRIC, 10.243, "output_throughput", 9.0);
        Comparison comparison = Comparison.of(LongStream.range(0, PAIRS)
                .mapToObj(seed -> new Comparison.Pair(seed, a, b))
                .toList());
        assertThat(comparison.ratios()).isEmpty();
        assertThat(comparison.judge(METRIC, 0)).isEqualTo(Comparison.Outcome.UNDECIDED);
        assertThat(ComparisonReport.text(
                        comparison, new ComparisonResult.Arms(List.of(), List.of(), METRIC, 0, 0), List.of(99.0)))
                .containsPattern("median_e2el_ms +10\\.000 +10\\.243 +1\\.0243  no interval\n")
                .containsPattern(
                        "Undecided: every pair is the same run, .* so there is no interval; median_e2el_ms changes by 2\\.43 %")
                .contains("--step-noise");
    }

    @Test
    void rate_that_fell_to_0_in_every_run_is_worse_and_one_that_rose_from_0_is_undecided() {
        Map<String, Double> some = Map.of("request_goodput", 20.0, METRIC, 5.0);
        Map<String, Double> none = Map.of("request_goodput", 0.0, METRIC, 0.0);
        Comparison fell = constant(PAIRS, some, none);
        assertThat(fell.judge("request_goodput", 0.5)).isEqualTo(Comparison.Outcome.WORSE);
        assertThat(fell.judge(METRIC, 0)).isEqualTo(Comparison.Outcome.UNDECIDED);
        Comparison rose = constant(PAIRS, none, some);
        assertThat(rose.judge("request_goodput", 0)).isEqualTo(Comparison.Outcome.UNDECIDED);
        assertThat(rose.judge(METRIC, 0)).isEqualTo(Comparison.Outcome.WORSE);
    }

    @Test
    void metric_missing_in_some_run_or_with_too_few_pairs_is_undecided() {
        Comparison lacking = constant(PAIRS, Map.of(METRIC, 5.0), Map.of("good_share", 1.0));
        assertThat(lacking.judge(METRIC, 0)).isEqualTo(Comparison.Outcome.UNDECIDED);
        Comparison few = Comparison.of(LongStream.range(1, Comparison.MIN_PAIRS)
                .mapToObj(seed -> new Comparison.Pair(seed, Map.of(METRIC, 5.0 + seed), Map.of(METRIC, 50.0)))
                .toList());
        assertThat(few.judge(METRIC, 0)).isEqualTo(Comparison.Outcome.UNDECIDED);
        assertThat(ComparisonReport.text(
                        few, new ComparisonResult.Arms(List.of(), List.of(), METRIC, 0, 3), List.of(99.0)))
                .contains("Undecided: 9 pairs are valid; an interval needs 10\n");
    }
}
