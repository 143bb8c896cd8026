package io.roseinfer.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.bench.compare.Sweep.SearchedRate;
import io.roseinfer.bench.report.Objectives;
import io.roseinfer.bench.report.ResultJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The knee and the highest rate of good, bad and invalid points at 10, 20, 40 requests/s and so on. */
class SweepTest {
    private static SweepPoint point(double rate, boolean good, boolean valid) {
        return new SweepPoint(
                Map.of(Sweep.RATE, "" + rate),
                Map.of(SweepPoint.OFFERED_RATE, rate, SweepPoint.BACKLOG_GROWTH, 0.0, "good_share", good ? 1.0 : 0.5),
                0,
                valid ? List.of() : List.of("the client was late"));
    }

    /** Returns a sweep with a point per letter: good, bad, or (I, i) invalid with good or bad metrics. */
    private static Sweep sweep(String letters) {
        List<SweepPoint> points = new ArrayList<>();
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            points.add(point(10 << i, letter == 'g' || letter == 'I', letter == 'g' || letter == 'b'));
        }
        return new Sweep(points, 0.99);
    }

    private static Optional<Double> rate(Optional<SweepPoint> point) {
        return point.map(found -> found.metric(SweepPoint.OFFERED_RATE).orElseThrow());
    }

    @ParameterizedTest
    @CsvSource({"g, 10,", "gg, 20,", "gb, 10, 20", "ggb, 20, 40", "gbg, 10, 20", "ggbI, 20, 40", "gbi, 10, 20"})
    void rate_is_between_the_last_point_that_passes_and_the_first_that_fails(
            String points, double rate, Double beyond) {
        Sweep sweep = sweep(points);
        Sweep.Settings all = sweep.bySettings().getFirst();
        for (SearchedRate searched : List.of(sweep.knee(all), sweep.highest(all))) {
            assertThat(searched).isInstanceOfSatisfying(SearchedRate.Between.class, found -> {
                assertThat(rate(Optional.of(found.point()))).contains(rate);
                assertThat(rate(found.beyond())).isEqualTo(Optional.ofNullable(beyond));
            });
        }
    }

    private static Study study(Objectives objectives) {
        return new Study(List.of(), List.of(), objectives, List.of(), List.of());
    }

    @Test
    void speeds_of_a_trace_are_rates_of_one_setting() {
        List<SweepPoint> points = new ArrayList<>();
        for (double speed : new double[] {4, 1, 2}) {
            SweepPoint point = point(10 * speed, speed < 4, true);
            points.add(new SweepPoint(
                    Map.of(Sweep.TRACE_SPEED, "" + speed, "routing", "least"), point.metrics(), 0, List.of()));
        }
        Sweep sweep = new Sweep(points, 0.99);
        assertThat(sweep.variesRate()).isTrue();
        assertThat(sweep.bySettings()).singleElement().satisfies(settings -> {
            assertThat(settings.flags()).containsOnlyKeys("routing");
            assertThat(sweep.highest(settings))
                    .isInstanceOfSatisfying(
                            SearchedRate.Between.class,
                            found ->
                                    assertThat(rate(Optional.of(found.point()))).contains(20.0));
        });
    }

    @Test
    void failing_lowest_point_leaves_no_rate() {
        Sweep sweep = sweep("bgI");
        Sweep.Settings all = sweep.bySettings().getFirst();
        assertThat(sweep.knee(all)).isEqualTo(new SearchedRate.BelowAll());
        assertThat(sweep.highest(all)).isEqualTo(new SearchedRate.BelowAll());
    }

    @ParameterizedTest
    @CsvSource({"I, 10,", "i, 10,", "gI, 20, 10", "gi, 20, 10", "gIg, 20, 10", "ggib, 40, 20", "Igb, 10,"})
    void invalid_point_makes_the_highest_rate_unknown(String points, double undecided, Double least) {
        Sweep sweep = sweep(points);
        Sweep.Settings all = sweep.bySettings().getFirst();
        for (SearchedRate searched : List.of(sweep.knee(all), sweep.highest(all))) {
            assertThat(searched).isInstanceOfSatisfying(SearchedRate.NotKnown.class, open -> {
                assertThat(rate(Optional.of(open.undecided()))).contains(undecided);
                assertThat(rate(open.least())).isEqualTo(Optional.ofNullable(least));
            });
        }
    }

    @Test
    void text_names_the_undecided_point() {
        assertThat(SweepReport.text(sweep("gIb"), study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains(
                        "Knee: unknown, at least 10.00 requests/s: the point at 20.00 requests/s is invalid (the client was late)\n",
                        "Highest rate that meets the objective: unknown, at least 10.00 requests/s: the point at 20.00",
                        "Invalid: 1 of 3 points\n");
        assertThat(SweepReport.text(sweep("ggb"), study(Objectives.NONE)))
                .contains("Knee: between 20.00 and 40.00 requests/s\n")
                .doesNotContain("Invalid", "Highest");
    }

    private static JsonNode found(Sweep sweep) {
        Study study = study(Objectives.NONE);
        return ResultJson.tree(SweepResult.of(sweep, study)).at("/roseinfer/settings/0");
    }

    @Test
    void file_omits_an_unknown_rate_and_has_the_undecided_point() {
        var settings = found(sweep("gIb"));
        assertThat(settings.get("knee").isNull()).isTrue();
        assertThat(settings.get("highest").isNull()).isTrue();
        assertThat(settings.get("knee_undecided_by").intValue()).isEqualTo(1);
        assertThat(settings.get("highest_undecided_by").intValue()).isEqualTo(1);
        var known = found(sweep("ggb"));
        assertThat(known.get("knee").doubleValue()).isEqualTo(20);
        assertThat(known.get("knee_below").doubleValue()).isEqualTo(40);
        assertThat(known.get("knee_undecided_by").isNull()).isTrue();
    }

    @Test
    void highest_rate_is_a_lower_bound_if_every_point_passes() {
        assertThat(SweepReport.text(sweep("gg"), study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains("Knee: 20.00 requests/s or more\n", "meets the objective: 20.00 requests/s or more\n");
    }

    private static SweepPoint burst(double goodShare, OptionalDouble needed) {
        SweepPoint burst = new SweepPoint(
                Map.of(Sweep.RATE, "400"),
                Map.of(SweepPoint.OFFERED_RATE, 400.0, SweepPoint.BACKLOG_GROWTH, 0.89, "good_share", goodShare),
                0,
                List.of());
        return needed.isPresent() ? burst.with(SweepPoint.NEEDED_REQUESTS, needed.getAsDouble()) : burst;
    }

    @Test
    void point_whose_backlog_grew_does_not_meet_the_objective() {
        SweepPoint steady = point(10, true, true);
        SweepPoint burst = burst(1, OptionalDouble.empty());
        assertThat(burst.meets(0.99)).isFalse();
        assertThat(SweepReport.line(burst, 0.99))
                .endsWith(", BEHIND: requests in flight grew by 89.0 % of the arrivals");
        assertThat(SweepReport.text(
                        new Sweep(List.of(steady, burst), 0.99), study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains("request-rate=400", " BEHIND\n", "between 10.00 and 400.0 requests/s\n", "--num-prompts");
    }

    @Test
    void point_that_is_too_short_to_decide_leaves_the_rate_unknown() {
        SweepPoint burst = burst(1, OptionalDouble.of(3000));
        assertThat(burst.meets(0.99)).isFalse();
        assertThat(SweepReport.line(burst, 0.99))
                .contains("ms, TOO SHORT: ")
                .endsWith("; to decide, give --num-prompts 3000");
        Sweep sweep = new Sweep(List.of(point(10, true, true), burst), 0.99);
        assertThat(SweepReport.text(sweep, study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains(
                        "   TOO SHORT\n",
                        "meets the objective: unknown, at least 10.00 requests/s: the point at 400.0 requests/s is too short to decide"
                                + " (--num-prompts 3000)\n")
                .doesNotContain("The next point is within the bounds");
    }

    @Test
    void point_outside_the_bounds_fails_however_short_it_is() {
        Sweep sweep = new Sweep(List.of(point(10, true, true), burst(0.5, OptionalDouble.of(3000))), 0.99);
        assertThat(SweepReport.text(sweep, study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains(" BEHIND\n", "meets the objective: between 10.00 and 400.0 requests/s\n")
                .doesNotContain("TOO SHORT");
        assertThat(sweep.undecided()).isEmpty();
    }

    @Test
    void point_that_misses_the_objective_is_not_too_short_to_decide_it() {
        Sweep sweep = new Sweep(List.of(point(10, true, true), burst(0.9896, OptionalDouble.of(3000))), 0.99);
        assertThat(SweepReport.text(sweep, study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains(
                        "meets the objective: between 10.00 and 400.0 requests/s\n",
                        "Knee: unknown, at least 10.00 requests/s: the point at 400.0 requests/s is too short to decide")
                .contains(" BEHIND\n")
                .doesNotContain("TOO SHORT");
    }

    @Test
    void point_that_is_too_short_to_decide_is_no_end_of_the_knee() {
        Sweep sweep = new Sweep(List.of(point(10, true, true), burst(0.92, OptionalDouble.of(3000))), 0.9);
        assertThat(SweepReport.text(sweep, study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains(
                        " TOO SHORT\n",
                        "Knee: unknown, at least 10.00 requests/s",
                        "objective: unknown, at least 10.00");
    }

    @Test
    void share_below_the_attainment_is_not_rounded_up_to_it() {
        SweepPoint point = burst(0.98996, OptionalDouble.empty());
        assertThat(SweepReport.line(point, 0.99)).contains(", 98.996 % good,");
        assertThat(SweepReport.text(new Sweep(List.of(point), 0.99), study(Objectives.NONE)))
                .contains(" 98.996 ");
        assertThat(SweepReport.line(point, 0.95)).contains(", 99.0 % good,");
    }

    @Test
    void settings_are_undecided_if_no_rate_bounds_the_highest() {
        SweepPoint burst = burst(1, OptionalDouble.of(3000));
        assertThat(new Sweep(List.of(point(10, true, true), burst), 0.99).undecided())
                .isEmpty();
        assertThat(new Sweep(List.of(burst), 0.99).undecided()).hasSize(1);
    }

    @Test
    void verdicts_can_be_recomputed_from_the_table() {
        Map<String, Double> metrics = Map.of(
                SweepPoint.OFFERED_RATE,
                100.0,
                SweepPoint.BACKLOG_GROWTH,
                0.02,
                "good_share",
                0.98,
                "request_goodput",
                90.0);
        SweepPoint good =
                new SweepPoint(Map.of(Sweep.RATE, "100"), metrics, 0, List.of()).with(SweepPoint.REQUESTS, 50);
        Map<String, Double> slow = Map.of(
                SweepPoint.OFFERED_RATE,
                120.0,
                SweepPoint.BACKLOG_GROWTH,
                0.06,
                "good_share",
                1.0,
                "request_goodput",
                112.0);
        SweepPoint behind = new SweepPoint(Map.of(Sweep.RATE, "120"), slow, 0, List.of()).with(SweepPoint.REQUESTS, 60);
        List<String> lines = SweepReport.text(new Sweep(List.of(good, behind), 0.9), study(Objectives.NONE))
                .lines()
                .toList();
        assertThat(lines.get(1).split(" +"))
                .startsWith("point", "requests", "offered/s", "growth", "%", "goodput/s", "good");
        assertThat(lines.get(2).split(" +")).startsWith("request-rate=100", "50", "100.0", "2.0", "90.00", "98.0");
        assertThat(lines.get(3).split(" +")).startsWith("request-rate=120", "60", "120.0", "6.0", "112.00", "100.0");
        assertThat(lines.get(3)).endsWith(" BEHIND");
        assertThat(lines.get(4)).isEqualTo("Knee: between 100.0 and 120.0 requests/s");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0.05, 0.05 | Knee: between 10.00 and 20.00 requests/s",
                "0.051, 0.05 | Knee: between 10.00 and 20.00 requests/s; 5.1 % of the simulated time at 10.00 requests/s is extrapolated",
                "0.05, 0.051 | Knee: 10.00 requests/s or more, undecided at 20.00 requests/s; 5.1 % of the simulated time at 20.00 requests/s is extrapolated",
                "0.142, 0.3 | Knee: 10.00 requests/s or more, undecided at 20.00 requests/s; 30.0 % of the simulated time at 20.00 requests/s is extrapolated; 14.2 % of the simulated time at 10.00 requests/s is extrapolated"
            })
    void rate_says_if_its_points_are_extrapolated(String shares, String knee) {
        String[] each = shares.split(", ");
        Sweep measured = sweep("gb");
        Sweep sweep = extrapolated(measured, Double.parseDouble(each[0]), Double.parseDouble(each[1]));
        List<String> lines =
                SweepReport.text(sweep, study(Objectives.NONE)).lines().toList();
        assertThat(lines.get(1)).endsWith("  extrap %  goodput");
        assertThat(lines.get(4)).isEqualTo(knee);
        assertThat(SweepReport.text(measured, study(Objectives.NONE))).doesNotContain("extrap");
    }

    /** Returns a sweep with the shares of extrapolated time of its points. */
    private static Sweep extrapolated(Sweep sweep, double... shares) {
        List<SweepPoint> points = new ArrayList<>();
        for (int i = 0; i < shares.length; i++) {
            points.add(sweep.points().get(i).with(SweepPoint.EXTRAPOLATED_SHARE, shares[i]));
        }
        return new Sweep(points, sweep.attainment());
    }

    @Test
    void extrapolated_point_is_no_upper_bound_in_the_file() {
        var settings = found(extrapolated(sweep("gb"), 0.05, 0.051));
        for (String rate : List.of("highest", "knee")) {
            assertThat(settings.get(rate).doubleValue()).isEqualTo(10);
            assertThat(settings.get(rate + "_below").isNull()).isTrue();
            assertThat(settings.get(rate + "_undecided_by").intValue()).isEqualTo(1);
        }
    }

    @Test
    void extrapolated_point_is_no_upper_bound_over_seeds() {
        List<SweepPoint> points = new ArrayList<>(seeded("0", "1", "gb"));
        seeded("1", "1", "gb").forEach(point -> points.add(point.with(SweepPoint.EXTRAPOLATED_SHARE, 0.051)));
        assertThat(SweepReport.text(new Sweep(points, 0.99), study(Objectives.NONE)))
                .contains("Knee over seeds with replicas=1: 10.00 requests/s or more, 2 seeds");
    }

    /** Returns the points of {@link #sweep} with a seed and replicas. */
    private static List<SweepPoint> seeded(String seed, String replicas, String letters) {
        return sweep(letters).points().stream()
                .map(point -> new SweepPoint(
                        Map.of(
                                Sweep.SEED,
                                seed,
                                "replicas",
                                replicas,
                                Sweep.RATE,
                                point.flags().get(Sweep.RATE)),
                        point.metrics(),
                        0,
                        point.reasons()))
                .toList();
    }

    @Test
    void knees_of_seeds_are_pooled_and_settings_are_compared_by_seed() {
        List<SweepPoint> points = new ArrayList<>();
        points.addAll(seeded("0", "2", "gbb"));
        points.addAll(seeded("1", "2", "ggb"));
        points.addAll(seeded("0", "4", "ggb"));
        points.addAll(seeded("1", "4", "ggb"));
        assertThat(SweepReport.text(new Sweep(points, 0.99), study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains("\nKnee over seeds with replicas=2: 10.00 to 40.00 requests/s, 2 seeds\n")
                .contains(
                        "\nHighest rate by seed with replicas=4: higher than with replicas=2 for 1, lower for 0 of 2 seeds\n")
                .doesNotContain("Knee with");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gb   | ggb  | 10.00 to 40.00 requests/s, 2 seeds",
                "gb   | gg   | 10.00 requests/s or more, 2 seeds",
                "b    | ggb  | below 40.00 requests/s, 2 seeds",
                "b    | bb   | below all measured rates (2 of 2 seeds)",
                "b    | I    | below all measured rates (1 of 2 seeds), unknown for 1 of them",
                "b    | g    | from below all measured rates to above them, 2 seeds",
                "gb   | gI   | 10.00 to 20.00 requests/s, 2 seeds, unknown for 1 of them",
                "I    | i    | unknown, 2 seeds"
            })
    void highest_rate_is_pooled_over_seeds(String first, String second, String range) {
        List<SweepPoint> points = new ArrayList<>(seeded("0", "2", first));
        points.addAll(seeded("7", "2", second));
        points.addAll(seeded("0", "4", "gb"));
        Sweep sweep = new Sweep(points, 0.99);
        Objectives bounds = Objectives.ofAll(Map.of("ttft", 200.0));
        assertThat(SweepReport.text(sweep, study(bounds)))
                .contains("\nHighest rate over seeds with replicas=2: " + range + "\n")
                .doesNotContain("over seeds with replicas=4");
        assertThat(SweepReport.text(sweep, study(Objectives.NONE))).doesNotContain("Highest");
    }

    /** Returns points at 8, 4, 2 requests/s and so on, with shares of good requests and median TTFTs. */
    private static Sweep falling(double growth, double[] shares, double[] latencies) {
        List<SweepPoint> points = new ArrayList<>();
        for (int i = 0; i < shares.length; i++) {
            double rate = 8.0 / (1 << i);
            points.add(new SweepPoint(
                    Map.of(Sweep.RATE, "" + rate),
                    Map.of(
                            SweepPoint.OFFERED_RATE,
                            rate,
                            SweepPoint.BACKLOG_GROWTH,
                            growth,
                            "good_share",
                            shares[i],
                            "median_ttft_ms",
                            latencies[i]),
                    0,
                    List.of()));
        }
        return new Sweep(points, 0.99);
    }

    @Test
    void objective_that_lower_rates_do_not_approach_is_reported() {
        double[] latencies = {300, 101, 100, 100};
        Sweep sweep = falling(0, new double[] {0.1, 0.86, 0.86, 0.86}, latencies);
        assertThat(sweep.missedAtLowest(Map.of()).orElseThrow()).isCloseTo(0.14, within(1e-9));
        assertThat(SweepReport.text(sweep, study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .contains(
                        "Lower rates change nothing: 14.0 % of the requests miss the objective at each of the three lowest\n");
        assertThat(falling(0, new double[] {0.1, 0.85, 0.86, 0.86}, latencies).missedAtLowest(Map.of()))
                .isEmpty();
        assertThat(falling(0, new double[] {0.1, 0.86, 0.86, 0.86}, new double[] {300, 102, 100, 100})
                        .missedAtLowest(Map.of()))
                .isEmpty();
        assertThat(falling(0.06, new double[] {0, 0, 0, 0}, latencies).missedAtLowest(Map.of()))
                .isEmpty();
        assertThat(falling(0, new double[] {0.99, 0.99, 0.99}, latencies).missedAtLowest(Map.of()))
                .isEmpty();
    }

    @Test
    void load_without_times_always_keeps_up() {
        SweepPoint unlimited = new SweepPoint(Map.of(), Map.of("good_share", 1.0), 0, List.of());
        assertThat(unlimited.meets(0.99)).isTrue();
    }

    @Test
    void sweep_without_a_varied_rate_has_no_knee() {
        SweepPoint rated = point(10, true, true);
        SweepPoint other = new SweepPoint(Map.of("kv-blocks", "200"), rated.metrics(), 0, List.of());
        assertThat(SweepReport.text(new Sweep(List.of(other), 0.99), study(Objectives.ofAll(Map.of("ttft", 200.0)))))
                .doesNotContain("Knee", "Highest");
    }

    @Test
    void points_with_failed_requests_are_marked_and_off_the_pareto_front() {
        Map<String, Double> slow = Map.of("median_tpot_ms", 10.0, "output_throughput", 100.0);
        Map<String, Double> fast = Map.of("median_tpot_ms", 5.0, "output_throughput", 200.0);
        SweepPoint whole = new SweepPoint(Map.of(Sweep.RATE, "1"), slow, 0, List.of());
        SweepPoint failing = new SweepPoint(Map.of(Sweep.RATE, "2"), fast, 17, List.of());
        Sweep sweep = new Sweep(List.of(whole, failing), 0.99);
        assertThat(sweep.pareto()).containsExactly(whole);
        assertThat(SweepReport.text(sweep, study(Objectives.NONE))).containsPattern("request-rate=2 .* 17 ");
    }

    @Test
    void points_with_extrapolated_time_are_off_the_pareto_front() {
        Map<String, Double> slow = Map.of("median_tpot_ms", 10.0, "output_throughput", 100.0);
        Map<String, Double> fast = Map.of("median_tpot_ms", 5.0, "output_throughput", 200.0);
        SweepPoint measured = new SweepPoint(Map.of(Sweep.RATE, "1"), slow, 0, List.of());
        SweepPoint extrapolated =
                new SweepPoint(Map.of(Sweep.RATE, "2"), fast, 0, List.of()).with(SweepPoint.EXTRAPOLATED_SHARE, 0.051);
        assertThat(new Sweep(List.of(measured, extrapolated), 0.99).pareto()).containsExactly(measured);
    }

    @Test
    void no_setting_is_higher_by_extrapolated_time() {
        List<SweepPoint> points = new ArrayList<>();
        for (String seed : List.of("0", "1", "2")) {
            points.addAll(seeded(seed, "2", "gbb"));
            seeded(seed, "4", "ggb")
                    .forEach(point -> points.add(
                            seed.equals("2")
                                    ? point
                                    : point.with(SweepPoint.EXTRAPOLATED_SHARE, seed.equals("0") ? 0.051 : 0.05)));
        }
        Sweep.BySeed compared = new Sweep(points, 0.99).bySeed().getFirst();
        assertThat(compared.higher()).isEqualTo(2);
        assertThat(SweepReport.bySeedText(compared))
                .isEqualTo("higher than with replicas=2 for 2, lower for 0 of 3 seeds, undecided for 1: over 5 % of the"
                        + " simulated time is extrapolated");
    }
}
