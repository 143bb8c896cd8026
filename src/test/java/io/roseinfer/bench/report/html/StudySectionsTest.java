package io.roseinfer.bench.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.compare.Comparison;
import io.roseinfer.bench.compare.ComparisonResult;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepResult;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.Objectives;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Tests of sweeps and comparisons in HTML reports. */
class StudySectionsTest {
    private static Study study(Map<String, Double> bounds, Environment... machines) {
        return new Study(
                List.of("bench", "sweep", "--seed=1", "--vary=request-rate=10,20,40"),
                List.of("--seed=1"),
                Objectives.ofAll(bounds),
                List.of(),
                List.of(machines));
    }

    private static SweepPoint point(String batch, double rate, double goodShare, double throughput, double tpot) {
        return new SweepPoint(
                Map.of("request-rate", "" + rate, "max-batch-size", batch),
                Map.of(
                        SweepPoint.OFFERED_RATE,
                        rate,
                        SweepPoint.BACKLOG_GROWTH,
                        0.0,
                        "request_goodput",
                        rate * goodShare,
                        "good_share",
                        goodShare,
                        "median_tpot_ms",
                        tpot,
                        "output_throughput",
                        throughput),
                0,
                List.of());
    }

    private static Document parse(String page) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(page.substring("<!DOCTYPE html>\n".length()))));
    }

    /** Returns the HTML report of a results file's content. */
    private static String page(String document) {
        return HtmlReport.of(
                "r", HtmlReport.result("r.json", StrictJson.parse(document.getBytes(StandardCharsets.UTF_8))));
    }

    @Test
    void page_has_the_title_of_the_caller() {
        ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of(), "median_ttft_ms", 0, 0);
        ComparisonResult none = ComparisonResult.of(Comparison.of(List.of()), arms, study(Map.of()));
        assertThat(HtmlReport.of(Optional.of("SJF <2>"), "c", none))
                .contains("<title>SJF &lt;2&gt;</title>", "<h1>SJF &lt;2&gt;</h1>");
        assertThat(HtmlReport.of("c", none)).contains("<h1>Benchmark report</h1>");
    }

    @Test
    void sweep_shows_its_knee_and_pareto_front() throws Exception {
        Sweep sweep = new Sweep(
                List.of(
                        point("8", 10, 1, 100, 5),
                        point("8", 20, 1, 200, 6),
                        point("8", 40, 0.5, 150, 9),
                        point("<32>", 10, 1, 100, 7)),
                0.99);
        Sweep.SearchedRate at20 = new Sweep.SearchedRate.Between(
                sweep.points().get(1), Optional.of(sweep.points().get(2)));
        assertThat(sweep.knee(sweep.bySettings().getFirst())).isEqualTo(at20);
        assertThat(sweep.highest(sweep.bySettings().getFirst())).isEqualTo(at20);
        assertThat(sweep.pareto())
                .extracting(point -> point.metrics().get("output_throughput"))
                .containsExactly(200.0, 100.0);
        String page = HtmlReport.of("s", SweepResult.of(sweep, study(Map.of("ttft", 200.0))));
        Document parsed = parse(page);
        assertThat(page)
                .contains(
                        "verdict good",
                        "TTFT at most 200 ms",
                        "knee between 20 and 40 requests/s",
                        ">knee of 8</text>",
                        "&lt;32&gt;",
                        "--seed=1")
                .doesNotContain("<32>");
        assertThat(parsed.getElementsByTagName("svg").getLength()).isEqualTo(4);
        assertThat(parsed.getElementsByTagName("tr").getLength()).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(doubles = {250, 9_000})
    void latencies_far_apart_have_a_logarithmic_axis_and_a_line_at_the_objective(double highest) throws Exception {
        Sweep sweep = new Sweep(List.of(latencies(10, 20, 5), latencies(20, 40, 6), latencies(40, highest, 7)), 0.99);
        String page = HtmlReport.of("s", SweepResult.of(sweep, study(Map.of("ttft", 200.0))));
        NodeList charts = parse(page).getElementsByTagName("svg");
        Element ttft = (Element) charts.item(1);
        assertThat(ttft.getTextContent()).contains("ms, logarithmic", "objective 200");
        List<Double> heights = heights(ttft);
        assertThat(heights.get(0) - heights.get(1))
                .as("20 to 40 ms is as far as any doubling")
                .isCloseTo((heights.get(0) - heights.get(2)) * Math.log(2) / Math.log(highest / 20), within(0.1));
        assertThat(charts.item(2).getTextContent()).doesNotContain("logarithmic", "objective");
    }

    private static SweepPoint latencies(double rate, double ttft, double tpot) {
        return new SweepPoint(
                Map.of("request-rate", "" + rate),
                Map.of(SweepPoint.OFFERED_RATE, rate, "p99_ttft_ms", ttft, "median_tpot_ms", tpot),
                0,
                List.of());
    }

    /** Returns the vertical coordinates of a chart's first line. */
    private static List<Double> heights(Element chart) {
        String points = ((Element) chart.getElementsByTagName("polyline").item(0)).getAttribute("points");
        return List.of(points.split(" ")).stream()
                .map(point -> Double.parseDouble(point.split(",")[1]))
                .toList();
    }

    @Test
    void page_has_the_rate_over_seeds_and_its_extrapolated_time() {
        List<SweepPoint> points = Stream.of("0", "1")
                .flatMap(seed -> Stream.of(
                                point("8", 10, 1, 100, 5), point("8", "0".equals(seed) ? 20 : 25, 0.5, 100, 6))
                        .map(point -> new SweepPoint(
                                        Map.of("request-rate", point.flags().get("request-rate"), "seed", seed),
                                        point.metrics(),
                                        0,
                                        List.of())
                                .with(
                                        SweepPoint.EXTRAPOLATED_SHARE,
                                        "10.0".equals(point.flags().get("request-rate")) ? 0.25 : 0)))
                .toList();
        assertThat(HtmlReport.of("s", SweepResult.of(new Sweep(points, 0.99), study(Map.of("ttft", 200.0)))))
                .contains(
                        "highest rate over seeds 10 to 25 requests/s, 2 seeds.",
                        "25.0 % of the simulated time at 10 requests/s is extrapolated",
                        "<th>extrapolated share</th>",
                        "<th>backlog growth</th>");
    }

    @Test
    void pareto_points_have_their_settings_color_and_the_front_is_neutral() throws Exception {
        Sweep sweep = new Sweep(
                List.of(point("8", 10, 1, 100, 5), point("8", 20, 1, 200, 6), point("32", 10, 1, 100, 7)), 0.99);
        String page = HtmlReport.of("s", SweepResult.of(sweep, study(Map.of())));
        Element pareto = (Element) parse(page).getElementsByTagName("svg").item(3);
        assertThat(marks(pareto)).containsExactly("m0", "m0", "m1");
        assertThat(((Element) pareto.getElementsByTagName("polyline").item(0)).getAttribute("class"))
                .isEqualTo("s6");
    }

    /** Returns a sweep of two batch sizes at rates 10 and 20 with two seeds, whose goodputs differ by a factor of two. */
    private static Sweep twoSeeds(double otherRate) {
        return new Sweep(
                Stream.of("8", "32")
                        .flatMap(batch -> Stream.of("0", "1")
                                .flatMap(seed -> Stream.of(10.0, "0".equals(seed) ? 20 : otherRate)
                                        .map(rate -> new SweepPoint(
                                                Map.of(
                                                        "request-rate",
                                                        "" + rate,
                                                        "max-batch-size",
                                                        batch,
                                                        "seed",
                                                        seed),
                                                point(batch, rate, "0".equals(seed) ? 1 : 0.5, 100, 5)
                                                        .metrics(),
                                                0,
                                                List.of()))))
                        .toList(),
                0.99);
    }

    private static String legend(String page) {
        return page.substring(page.indexOf("<p class=\"legend\">")).split("</p>", 2)[0];
    }

    @Test
    void seeds_of_a_setting_are_a_line_of_medians_and_a_band_of_their_range() throws Exception {
        String page = HtmlReport.of("s", SweepResult.of(twoSeeds(20), study(Map.of())));
        Element chart = (Element) parse(page).getElementsByTagName("svg").item(0);
        assertThat(marks(chart)).containsExactly("m0", "m0", "m1", "m1");
        Element band = (Element) chart.getElementsByTagName("path").item(0);
        assertThat(band.getAttribute("class")).isEqualTo("a0");
        List<Double> edge = Stream.of(band.getAttribute("d").split("[MLz]"))
                .filter(corner -> !corner.isEmpty())
                .map(corner -> Double.parseDouble(corner.split(" ")[1]))
                .toList();
        assertThat(heights(chart).getFirst()).isCloseTo((edge.getFirst() + edge.getLast()) / 2, within(0.1));
        assertThat(edge.getLast() - edge.getFirst()).isGreaterThan(20);
        assertThat(legend(page))
                .containsOnlyOnce("max-batch-size 8, median and range of 2 seeds")
                .containsOnlyOnce("max-batch-size 32, median and range of 2 seeds");
    }

    @Test
    void seeds_with_different_rates_are_lines_of_one_style_and_legend_entry() throws Exception {
        String page = HtmlReport.of("s", SweepResult.of(twoSeeds(21), study(Map.of())));
        Element chart = (Element) parse(page).getElementsByTagName("svg").item(0);
        assertThat(marks(chart)).containsExactly("m0", "m0", "m0", "m0", "m1", "m1", "m1", "m1");
        assertThat(numbers(chart, "s0", "points").size()
                        + numbers(chart, "s1", "points").size())
                .isEqualTo(4);
        assertThat(legend(page))
                .containsOnlyOnce("max-batch-size 8, 2 seeds")
                .containsOnlyOnce("max-batch-size 32, 2 seeds");
    }

    @Test
    void seeds_of_a_setting_have_one_knee_at_the_lowest_of_their_rates() throws Exception {
        List<SweepPoint> points = new ArrayList<>();
        for (double[] good : new double[][] {{1, 1, 0.5}, {1, 0.5, 0.5}}) {
            for (int i = 0; i < 3; i++) {
                SweepPoint point = point("8", 10 * (i + 1), good[i], 100, 5);
                points.add(new SweepPoint(
                        Map.of("request-rate", "" + i, "seed", "" + good[1]), point.metrics(), 0, List.of()));
            }
        }
        Element chart = (Element) parse(HtmlReport.of("s", SweepResult.of(new Sweep(points, 0.99), study(Map.of()))))
                .getElementsByTagName("svg")
                .item(0);
        assertThat(numbers(chart, "r0", "cx"))
                .containsExactly(numbers(chart, "m0", "cx").getFirst());
        assertThat(labels(chart, "label")).contains("lowest knee");
    }

    @Test
    void components_are_defined_only_in_reports_that_have_them() {
        String parts = "{\"roseinfer\":{\"kind\":\"serve\",\"requests\":[],\"itl_parts\":null,\"ttft_parts\":"
                + "{\"all\":{\"hand_over\":0},\"median\":{\"hand_over\":0},\"tail\":{\"hand_over\":0}}}}";
        String none = "{\"roseinfer\":{\"kind\":\"serve\",\"requests\":[]}}";
        assertThat(page(parts)).contains("<dt>Deliver</dt>", "<th>deliver</th><td>–</td><td>–</td><td>–</td>");
        assertThat(page(none)).doesNotContain("<dt>Deliver</dt>");
    }

    @Test
    void title_of_a_sweep_has_the_varied_flags_and_the_file_name() {
        SweepPoint point = new SweepPoint(Map.of("request-rate", "10"), Map.of(), 0, List.of());
        Sweep sweep = new Sweep(List.of(point), 0.99);
        assertThat(HtmlReport.of("sweep", SweepResult.of(sweep, study(Map.of()))))
                .contains("<h2>Sweep over request-rate</h2>");
        assertThat(HtmlReport.of("night", SweepResult.of(sweep, study(Map.of()))))
                .contains("<h2>Sweep over request-rate: night</h2>");
    }

    @Test
    void invalid_point_is_hollow_and_listed_in_the_verdict() throws Exception {
        SweepPoint valid = point("8", 10, 1, 100, 5);
        SweepPoint measured = point("8", 20, 1, 200, 6);
        SweepPoint invalid = new SweepPoint(measured.flags(), measured.metrics(), 0, List.of("late by <1>"));
        Sweep sweep = new Sweep(List.of(valid, invalid), 0.99);
        String page = HtmlReport.of("s", SweepResult.of(sweep, study(Map.of())));
        Document parsed = parse(page);
        assertThat(page)
                .contains(
                        "<section class=\"verdict warn\">",
                        "knee unknown, at least 10 requests/s: the point at 20 requests/s is invalid.",
                        "late by &lt;1&gt;</li>",
                        "<strong>1 of 2 points are invalid</strong>")
                .doesNotContain(">knee");
        List<String> rate = marks((Element) parsed.getElementsByTagName("svg").item(0));
        assertThat(rate).containsExactly("m0", "h0");
    }

    /** Returns the styles of a chart's marks, whatever their shapes. */
    private static List<String> marks(Element chart) {
        var found = chart.getElementsByTagName("*");
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> (Element) found.item(i))
                .filter(element -> List.of("circle", "polygon").contains(element.getTagName()))
                .map(element -> element.getAttribute("class"))
                .toList();
    }

    @Test
    void component_bars_are_contiguous() throws Exception {
        String parts = "{\"samples\":2,\"all\":%1$s,\"median\":%1$s,\"tail\":%1$s}"
                .formatted("{\"queue\":1.0,\"hand_over\":3.0,\"residual\":-1.0}");
        String run = "{\"roseinfer\":{\"kind\":\"serve\",\"requests\":[],\"ttft_parts\":" + parts
                + ",\"itl_parts\":null,\"longest_gaps\":[{\"request\":4,\"token\":2,\"ms\":9.0,\"step\":77,"
                + "\"step_ms\":8.0,\"rows\":3,\"prefill_tokens\":64}]}}";
        String page = page(run);
        Document parsed = parse(page);
        Element first = (Element) parsed.getElementsByTagName("rect").item(0);
        Element second = (Element) parsed.getElementsByTagName("rect").item(1);
        double end = Double.parseDouble(first.getAttribute("x")) + Double.parseDouble(first.getAttribute("width"));
        assertThat(Double.parseDouble(second.getAttribute("x"))).isEqualTo(end);
        assertThat(Double.parseDouble(second.getAttribute("width")))
                .isEqualTo(3 * Double.parseDouble(first.getAttribute("width")));
        assertThat(page).contains("deliver", "<td>-1.000</td>", "request 4, token 2", "<td>77</td>");
    }

    @Test
    void components_by_percentile_are_stacked_per_slice() throws Exception {
        String slices = "{\"queue\":[1.0,2.0],\"parse\":[0.0,0.0],\"hand_over\":[1.0,6.0],\"residual\":[-1.0,-2.0]}";
        String run = "{\"roseinfer\":{\"kind\":\"serve\",\"requests\":[],\"itl_parts\":null,\"ttft_parts\":{\"slices\":"
                + slices + "}}}";
        Document parsed = parse(page(run));
        // The highest column, 8 ms, is as tall as the chart: 236 of its 300 units, and two columns share 550 of its
        // 640.
        assertThat(IntStream.range(0, parsed.getElementsByTagName("path").getLength())
                        .mapToObj(i ->
                                ((Element) parsed.getElementsByTagName("path").item(i)).getAttribute("d")))
                .containsExactly(
                        "M76.00 250.0h275.00v-29.5h-275.00zM351.00 250.0h275.00v-59.0h-275.00z",
                        "M76.00 220.5h275.00v-29.5h-275.00zM351.00 191.0h275.00v-177.0h-275.00z");
    }

    @Test
    void comparison_shows_every_interval_and_the_verdict() throws Exception {
        List<Comparison.Pair> pairs = LongStream.range(0, 10)
                .mapToObj(seed -> new Comparison.Pair(
                        seed,
                        Map.of("median_e2el_ms", 100.0 + seed, "output_throughput", 50.0),
                        Map.of("median_e2el_ms", 1.1 * (100.0 + seed), "output_throughput", 50.0)))
                .toList();
        Comparison comparison = Comparison.of(pairs);
        ComparisonResult.Arms arms =
                new ComparisonResult.Arms(List.of(), List.of("--b-flag"), "median_e2el_ms", 0.02, 1);
        String page = HtmlReport.of("c", ComparisonResult.of(comparison, arms, study(Map.of())));
        Document parsed = parse(page);
        assertThat(page)
                .contains("B is worse", "+10.00 %", "--b-flag", "1 pairs were discarded")
                .contains("<br/>A: no additional flags<br/>B: --b-flag</p>");
        assertThat(marks((Element) parsed.getElementsByTagName("svg").item(0))).hasSize(2);
        assertThat(page).doesNotContain("Over time", "Environment and settings");
    }

    @Test
    void comparison_reports_a_metric_without_a_ratio() throws Exception {
        List<Comparison.Pair> pairs = LongStream.range(0, 10)
                .mapToObj(seed -> new Comparison.Pair(
                        seed,
                        Map.of("median_itl_ms", seed == 3 ? 0.0 : 2.0, "output_throughput", 50.0),
                        Map.of("median_itl_ms", 3.0, "output_throughput", 50.0)))
                .toList();
        ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of(), "median_itl_ms", 0, 0);
        Environment machine = new Environment(
                "25",
                Optional.of("a processor"),
                OptionalInt.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                0);
        ComparisonResult document = ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of(), machine.ofMany()));
        String page = HtmlReport.of("c", document);
        parse(page);
        assertThat(page)
                .contains(
                        "median ITL</strong> has no ratio",
                        "<th>median ITL, ms</th><td>2</td><td>3</td><td colspan=\"4\">0 in some run</td>",
                        "<dt>Measured on</dt><dd>25, a processor</dd>")
                .doesNotContain("changes by");
    }

    private static Document comparison(String metric, double factor) throws Exception {
        List<Comparison.Pair> pairs = LongStream.range(0, 10)
                .mapToObj(seed -> new Comparison.Pair(
                        seed,
                        Map.of("median_e2el_ms", 100.0 + seed, "request_goodput", 50.0),
                        Map.of("median_e2el_ms", factor * (100.0 + seed), "request_goodput", 50.0 * factor)))
                .toList();
        ComparisonResult.Arms arms =
                new ComparisonResult.Arms(List.of(), List.of("--b-flag", "two words"), metric, 0, 0);
        return parse(HtmlReport.of("c", ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of()))));
    }

    @Test
    void metrics_are_colored_by_their_direction_and_the_deciding_one_is_bold() throws Exception {
        for (double factor : new double[] {0.5, 1, 2}) {
            for (String metric : List.of("median_e2el_ms", "request_goodput")) {
                Element chart = (Element)
                        comparison(metric, factor).getElementsByTagName("svg").item(0);
                List<String> labels = labels(chart);
                List<String> styles = marks(chart);
                assertThat(styles).as(metric + " times " + factor).hasSize(2);
                assertThat(styles.get(labels.indexOf("median E2EL")))
                        .isEqualTo(factor == 1 ? "m6" : factor < 1 ? "m7" : "m4");
                assertThat(styles.get(labels.indexOf("request goodput")))
                        .isEqualTo(factor == 1 ? "m6" : factor > 1 ? "m7" : "m4");
                assertThat(labels(chart, "strong")).containsExactly(Markup.metric(metric));
            }
        }
    }

    @Test
    void labels_have_abbreviations_units_and_groups() {
        assertThat(List.of(
                        "p99_ttft_ms{tenant=a}",
                        "output_throughput",
                        "request_goodput{slo=x y}",
                        "jain_index",
                        "max_normalized_ms"))
                .extracting(Markup::metricWithUnit)
                .containsExactly(
                        "p99 TTFT of tenant a, ms",
                        "output throughput, tokens/s",
                        "request goodput of slo x y, requests/s",
                        "Jain index",
                        "max normalized latency, ms/token");
    }

    /** Returns the chart of the intervals of metrics with the given ratios. */
    private static Element intervals(String decides, Map<String, Double> ratios) throws Exception {
        List<Comparison.Pair> pairs = LongStream.range(0, 10)
                .mapToObj(seed -> {
                    Map<String, Double> b = new LinkedHashMap<>();
                    ratios.forEach((metric, ratio) -> b.put(metric, ratio * (100 + seed)));
                    return new Comparison.Pair(
                            seed, ratios.keySet().stream().collect(Collectors.toMap(m -> m, m -> 100.0 + seed)), b);
                })
                .toList();
        ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of(), decides, 0, 0);
        return (Element) parse(HtmlReport.of("c", ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of()))))
                .getElementsByTagName("figure")
                .item(0);
    }

    @Test
    void interval_chart_has_the_main_metrics_and_the_deciding_one() throws Exception {
        Element chart = intervals(
                "p99_ttft_ms{tenant=a}",
                Map.of(
                        "p99_ttft_ms{tenant=a}",
                        1.1,
                        "p99_ttft_ms{tenant=b}",
                        1.2,
                        "mean_ttft_ms",
                        1.0,
                        "p99_ttft_ms",
                        1.1));
        assertThat(labels(chart)).containsExactlyInAnyOrder("p99 TTFT of tenant a", "p99 TTFT");
        assertThat(chart.getTextContent()).contains("The table of the HTML report also has the metrics");
    }

    @Test
    void far_interval_is_clipped_with_an_arrow_and_its_numbers() throws Exception {
        Map<String, Double> ratios = Map.of("median_ttft_ms", 1.1, "p99_ttft_ms", 1.2, "p99_e2el_ms", 41.5);
        Element chart = intervals("median_ttft_ms", ratios);
        assertThat(chart.getTextContent()).contains("41.5 (41.5–41.5)", "Arrows: ");
        assertThat(chart.getElementsByTagName("path").getLength()).isEqualTo(1);
        String arrow = ((Element) chart.getElementsByTagName("path").item(0)).getAttribute("d");
        assertThat(Double.parseDouble(arrow.substring(1).split(" ")[0]))
                .isGreaterThan(numbers(chart, "zero", "x1").getFirst() + 100);
        assertThat(intervals("p99_e2el_ms", ratios).getTextContent())
                .as("the deciding metric is not clipped")
                .doesNotContain("Arrows");
    }

    /** Returns the figures of a comparison in which one latency is half and the other is twice as long. */
    private static NodeList halvedAndDoubled() throws Exception {
        List<Comparison.Pair> pairs = LongStream.range(0, 10)
                .mapToObj(seed -> new Comparison.Pair(
                        seed,
                        Map.of("median_e2el_ms", 100.0 + seed, "median_ttft_ms", 10.0 + seed),
                        Map.of("median_e2el_ms", 50.0 + seed / 2.0, "median_ttft_ms", 20.0 + 2.0 * seed)))
                .toList();
        ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of(), "median_ttft_ms", 0, 0);
        return parse(HtmlReport.of("c", ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of()))))
                .getElementsByTagName("svg");
    }

    @Test
    void half_and_twice_are_at_equal_distances_from_1() throws Exception {
        Element chart = (Element) halvedAndDoubled().item(0);
        double one = numbers(chart, "zero", "x1").getFirst();
        assertThat(numbers(chart, "m7", "cx").getFirst())
                .isCloseTo(2 * one - numbers(chart, "m4", "points").getFirst(), within(1.0));
        assertThat(chart.getTextContent()).contains("B / A, logarithmic");
    }

    @Test
    void every_pair_has_a_mark_at_its_ratio() throws Exception {
        Element chart = (Element) halvedAndDoubled().item(1);
        List<Double> heights = numbers(chart, "m0", "cy");
        assertThat(heights).hasSize(10).allMatch(y -> y.equals(heights.getFirst()));
        assertThat(heights.getFirst()).isLessThan(numbers(chart, "zero", "y1").getFirst());
    }

    /** Returns the first number in an attribute of all elements of a style. */
    private static List<Double> numbers(Element chart, String style, String attribute) {
        NodeList found = chart.getElementsByTagName("*");
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> (Element) found.item(i))
                .filter(element -> element.getAttribute("class").equals(style))
                .map(element ->
                        Double.parseDouble(element.getAttribute(attribute).split("[ ,]")[0]))
                .toList();
    }

    private static List<String> labels(Element chart, String... styles) {
        var found = chart.getElementsByTagName("text");
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> (Element) found.item(i))
                .filter(element -> element.getTextContent().matches("[a-z].*"))
                .filter(element -> styles.length == 0 || List.of(styles).contains(element.getAttribute("class")))
                .map(Element::getTextContent)
                .toList();
    }

    @Test
    void coinciding_knees_have_labels_above_each_other() throws Exception {
        List<SweepPoint> points = new ArrayList<>();
        for (String batch : List.of("8", "32")) {
            points.add(point(batch, 10, 1, 100, 5));
            points.add(point(batch, 20, 0.5, 100, 5));
        }
        String page = HtmlReport.of("s", SweepResult.of(new Sweep(points, 0.99), study(Map.of())));
        Element chart = (Element) parse(page).getElementsByTagName("svg").item(0);
        NodeList texts = chart.getElementsByTagName("text");
        assertThat(IntStream.range(0, texts.getLength())
                        .mapToObj(i -> (Element) texts.item(i))
                        .filter(text -> text.getTextContent().startsWith("knee of"))
                        .map(text -> text.getAttribute("y")))
                .hasSize(2)
                .doesNotHaveDuplicates();
        assertThat(marks(chart)).contains("r0", "r1");
    }

    @Test
    void collapse_to_0_is_red_and_a_metric_without_a_ratio_is_not_green() throws Exception {
        for (double b : new double[] {0, 5}) {
            List<Comparison.Pair> pairs = LongStream.range(0, 10)
                    .mapToObj(seed -> new Comparison.Pair(
                            seed,
                            Map.of("request_goodput", 20.0 - 2 * seed),
                            Map.of("request_goodput", seed < 5 ? b : 0)))
                    .toList();
            ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of(), "request_goodput", 0, 0);
            String page = HtmlReport.of("c", ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of())));
            Document unused = parse(page);
            assertThat(page).contains(b == 0 ? "verdict bad" : "verdict warn").doesNotContain("verdict good");
        }
    }

    @Test
    void caption_of_a_comparison_has_the_name_of_a_policy_file_only() throws Exception {
        ComparisonResult.Arms arms = new ComparisonResult.Arms(
                List.of(), List.of("--step-policy=/home/me/policies/Mine.java:3"), "median_ttft_ms", 0, 0);
        List<Comparison.Pair> pairs = IntStream.range(0, 10)
                .mapToObj(i -> new Comparison.Pair(i, Map.of("median_ttft_ms", 5.0 + i), Map.of("median_ttft_ms", 6.0)))
                .toList();
        String page = HtmlReport.of("c", ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of())));
        assertThat(page).contains("<br/>B: --step-policy=Mine.java:3</p>");
    }

    @Test
    void policy_files_of_one_name_differ_by_their_directories() throws Exception {
        List<String> a = List.of("--step-policy=/home/me/old/Mine.java:3");
        List<String> b = List.of("--step-policy=/home/me/new/Mine.java:3", "--x=/y/Other.java");
        List<Comparison.Pair> pairs = IntStream.range(0, 10)
                .mapToObj(i -> new Comparison.Pair(i, Map.of("median_ttft_ms", 5.0 + i), Map.of("median_ttft_ms", 6.0)))
                .toList();
        ComparisonResult.Arms arms = new ComparisonResult.Arms(a, b, "median_ttft_ms", 0, 0);
        String page = HtmlReport.of("c", ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of())));
        assertThat(page)
                .contains("A: --step-policy=old/Mine.java:3<br/>B: --step-policy=new/Mine.java:3 --x=Other.java</p>");
    }

    @Test
    void legend_of_a_comparison_has_the_mark_of_worse_metrics() throws Exception {
        ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of(), "median_ttft_ms", 0, 0);
        List<Comparison.Pair> pairs = IntStream.range(0, 10)
                .mapToObj(
                        i -> new Comparison.Pair(i, Map.of("median_ttft_ms", 5.0 + i), Map.of("median_ttft_ms", 99.0)))
                .toList();
        String page = HtmlReport.of("c", ComparisonResult.of(Comparison.of(pairs), arms, study(Map.of())));
        assertThat(page).containsPattern("▼</i>[^▼]{0,40}worse");
    }

    @Test
    void vertical_axis_of_a_sweep_names_the_metric() throws Exception {
        List<SweepPoint> points = List.of(point("8", 10, 1, 100, 5), point("8", 20, 1, 200, 6));
        String page = HtmlReport.of("s", SweepResult.of(new Sweep(points, 0.9), study(Map.of())));
        assertThat(page).contains(">median TPOT, ms</text>");
    }

    @Test
    void commands_are_quoted_for_a_shell() throws Exception {
        Study study = new Study(
                List.of("bench", "ab", "--b", "--seed 1", "--a="), List.of(), Objectives.NONE, List.of(), List.of());
        ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of("it's"), "x", 0, 0);
        String page = HtmlReport.of("c", ComparisonResult.of(Comparison.of(List.of()), arms, study));
        assertThat(parse(page).getElementsByTagName("main").item(0).getTextContent())
                .contains("roseinfer bench ab --b '--seed 1' --a=", "'it'\\''s'");
    }
}
