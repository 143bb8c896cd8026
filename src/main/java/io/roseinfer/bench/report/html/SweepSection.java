package io.roseinfer.bench.report.html;

import io.roseinfer.bench.compare.OfRuns;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepReport;
import io.roseinfer.bench.compare.SweepResult;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.RunMetrics;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** The section of a sweep: goodput and tail latency by offered rate, total throughput by speed per user, and all points. */
final class SweepSection {
    private static final List<String> SHOWN = List.of(
            SweepPoint.REQUESTS,
            SweepPoint.OFFERED_RATE,
            SweepPoint.BACKLOG_GROWTH,
            "request_goodput",
            "good_share",
            "median_ttft_ms",
            "p99_ttft_ms",
            "median_tpot_ms",
            "p99_tpot_ms",
            "output_throughput",
            "preemptions",
            "recomputed_tokens",
            "cache_hit_rate");

    private final String name;
    private final Study study;
    private final Sweep sweep;

    private SweepSection(String name, SweepResult result) {
        this.name = name;
        this.study = result.roseinfer().study();
        this.sweep = result.sweep();
    }

    static List<Block> blocks(String name, SweepResult result) {
        return new SweepSection(name, result).blocks();
    }

    private List<Block> blocks() {
        List<Block.Figure> figures = new ArrayList<>();
        if (sweep.points().stream()
                .anyMatch(point -> point.metric(SweepPoint.OFFERED_RATE).isPresent())) {
            figures.add(againstRate("Goodput against rate", "good requests/s", "request_goodput", true)
                    .figure());
            figures.add(latency("TTFT p99 against rate", "p99_ttft_ms", "ttft"));
            figures.add(latency("TPOT p50 against rate", "median_tpot_ms", "tpot"));
        }
        if (!sweep.pareto().isEmpty()) {
            figures.add(pareto());
        }
        return List.of(
                Block.Heading.of(title()),
                verdict(),
                new Block.Figures(figures),
                table(),
                new Block.Terms(List.of(
                        new Block.Term("Command", "roseinfer " + Markup.command(study.command()), true),
                        new Block.Term(
                                "Measured on",
                                ComparisonSection.machines(ofPoints(study, sweep, ComparisonSection::machine)),
                                false))));
    }

    /** Returns the sources of simulated times. */
    static List<OfRuns> simulated(Study study, Sweep sweep) {
        return ofPoints(study, sweep, Environment::simulated);
    }

    private static List<OfRuns> ofPoints(Study study, Sweep sweep, Function<Environment, Optional<String>> value) {
        return OfRuns.points(study, sweep.points(), SweepSection::label, value);
    }

    /** Returns the varied flags, and the file's name unless it is the default. */
    private String title() {
        String flags = sweep.points().stream()
                .flatMap(point -> point.flags().keySet().stream())
                .distinct()
                .collect(Collectors.joining(", "));
        return "Sweep" + (flags.isEmpty() ? "" : " over " + flags) + (name.equals("sweep") ? "" : ": " + name);
    }

    private Block.Verdict verdict() {
        List<SweepPoint> invalid = sweep.invalid();
        String objective = objective();
        Block.Verdict verdict = new Block.Verdict(invalid.isEmpty() ? Block.Tone.GOOD : Block.Tone.WARN)
                .simulated(simulated(study, sweep));
        verdict.text(objective.isEmpty() ? "" : "Good: " + objective + ". ").end();
        if (sweep.variesRate()) {
            sweep.bySettings().stream()
                    .filter(settings -> !objective.isEmpty() || !sweep.isPooled(settings))
                    .forEach(settings -> verdict.text(finding(settings, !objective.isEmpty()))
                            .end());
            sweep.kneesOverSeeds()
                    .forEach(pooled -> verdict.text(finding("knee", pooled)).end());
            if (!objective.isEmpty()) {
                sweep.overSeeds()
                        .forEach(pooled ->
                                verdict.text(finding("highest rate", pooled)).end());
                sweep.bySeed()
                        .forEach(compared -> verdict.text(label(compared.flags()) + ": highest rate by seed "
                                        + SweepReport.bySeedText(compared) + ".")
                                .end());
                SweepReport.caution(sweep, study)
                        .ifPresent(caution -> verdict.text(caution + ".").end());
            }
        }
        if (!invalid.isEmpty()) {
            verdict.strong(invalid.size() + " of " + sweep.points().size() + " points are invalid")
                    .text("; they are hollow in the charts.")
                    .items(invalid.stream()
                            .map(point -> label(point.flags()) + ": "
                                    + point.reasons().getFirst())
                            .toList());
        }
        return verdict;
    }

    private String objective() {
        List<String> good = new ArrayList<>();
        if (!study.objectives().goodput().isEmpty()) {
            good.add(bounds(study.objectives().goodput()));
        }
        study.objectives().slos().forEach((name, slo) -> good.add("for class " + name + " " + bounds(slo)));
        return good.isEmpty()
                ? ""
                : String.join("; ", good) + ", for at least " + Markup.number(100 * sweep.attainment())
                        + " % of the requests";
    }

    private static String bounds(Map<String, Double> bounds) {
        return bounds.entrySet().stream()
                .map(bound ->
                        bound.getKey().toUpperCase(Locale.ROOT) + " at most " + Markup.number(bound.getValue()) + " ms")
                .collect(Collectors.joining(" and "));
    }

    private String finding(Sweep.Settings settings, boolean hasObjective) {
        OptionalDouble missed = sweep.missedAtLowest(settings.flags());
        String of = settings.flags().isEmpty() ? "" : label(settings.flags()) + ": ";
        List<String> rates = new ArrayList<>();
        if (hasObjective) {
            rates.add("highest rate that meets this " + rate(sweep.highest(settings)));
        }
        if (!sweep.isPooled(settings)) {
            rates.add("knee " + rate(sweep.knee(settings)));
        }
        return of + String.join("; ", rates) + "."
                + (hasObjective && missed.isPresent() ? " " + SweepReport.lowestText(missed.getAsDouble()) + "." : "");
    }

    private static String finding(String what, Sweep.OverSeeds pooled) {
        return (pooled.flags().isEmpty() ? "" : label(pooled.flags()) + ": ") + what + " over seeds "
                + SweepReport.seedsText(pooled, Markup::number) + ".";
    }

    private static String rate(Sweep.SearchedRate searched) {
        return SweepReport.rateText(searched, Markup::number);
    }

    static String label(Map<String, String> flags) {
        return flags.isEmpty()
                ? "all"
                : flags.entrySet().stream()
                        .map(flag -> flag.getKey() + " " + flag.getValue())
                        .collect(Collectors.joining(", "));
    }

    private Block.Figure latency(String title, String metric, String objective) {
        Double limit = study.objectives().goodput().get(objective);
        return againstRate(title, Markup.metricWithUnit(metric), metric, false)
                .logarithmicIfFar()
                .withLimit(limit == null ? OptionalDouble.empty() : OptionalDouble.of(limit))
                .figure();
    }

    private Chart againstRate(String title, String yLabel, String metric, boolean marksKnee) {
        List<Chart.Series> series = new ArrayList<>();
        List<Chart.Mark> marks = new ArrayList<>();
        List<Chart.Band> bands = new ArrayList<>();
        for (List<Sweep.Settings> arm : arms()) {
            int style = style(arm.getFirst());
            for (List<List<SweepPoint>> line : lines(arm)) {
                List<List<SweepPoint>> known = line.stream()
                        .map(points -> points.stream()
                                .filter(point -> point.metric(metric).isPresent())
                                .toList())
                        .filter(points -> !points.isEmpty())
                        .toList();
                List<Double> rates = known.stream().map(SweepSection::offered).toList();
                boolean isPooled = line.stream().anyMatch(points -> points.size() > 1);
                String name = isPooled ? ", median and range of " + arm.size() + " seeds" : "";
                series.add(new Chart.Series(
                        isPooled ? label(withoutSeed(arm.getFirst())) + name : seriesName(arm.getFirst()),
                        style,
                        rates,
                        known.stream().map(points -> median(points, metric)).toList()));
                if (isPooled) {
                    bands.add(new Chart.Band(
                            style,
                            rates,
                            known.stream()
                                    .map(points -> values(points, metric).min().orElse(0))
                                    .toList(),
                            known.stream()
                                    .map(points -> values(points, metric).max().orElse(0))
                                    .toList()));
                }
                known.forEach(points -> marks.add(mark(style, points, metric, "")));
            }
            if (marksKnee) {
                knee(arm).ifPresent(points -> marks.add(mark(style, points, metric, kneeLabel(arm))));
            }
        }
        return new Chart(title, "requests/s offered", yLabel, series, false)
                .withMarks(marks)
                .withBands(bands);
    }

    /** Returns settings that differ only in the seed together. */
    private List<List<Sweep.Settings>> arms() {
        return List.copyOf(sweep.bySettings().stream()
                .collect(Collectors.groupingBy(SweepSection::withoutSeed, LinkedHashMap::new, Collectors.toList()))
                .values());
    }

    /** Returns the lines of an arm: one with all seeds at each rate if they share the rates, otherwise one for each seed. */
    private static List<List<List<SweepPoint>>> lines(List<Sweep.Settings> arm) {
        List<List<SweepPoint>> seeds = arm.stream()
                .map(settings -> settings.points().stream()
                        .filter(point -> point.metric(SweepPoint.OFFERED_RATE).isPresent())
                        .toList())
                .toList();
        Map<List<String>, List<SweepPoint>> byRate = new LinkedHashMap<>();
        seeds.forEach(points -> points.forEach(point -> byRate.computeIfAbsent(
                        List.of(
                                point.flags().getOrDefault(Sweep.RATE, ""),
                                point.flags().getOrDefault(Sweep.TRACE_SPEED, "")),
                        rate -> new ArrayList<>())
                .add(point)));
        return byRate.values().stream().allMatch(points -> points.size() == arm.size())
                ? List.of(byRate.values().stream()
                        .sorted(Comparator.comparingDouble(SweepSection::offered))
                        .toList())
                : seeds.stream()
                        .map(points -> points.stream().map(List::of).toList())
                        .toList();
    }

    /** Returns the points with the lowest knee of an arm's seeds; empty if a seed's knee has no upper bound. */
    private Optional<List<SweepPoint>> knee(List<Sweep.Settings> arm) {
        List<SweepPoint> knees = arm.stream()
                .map(sweep::knee)
                .filter(rate -> rate instanceof Sweep.SearchedRate.Between knee
                        && knee.bound().isPresent())
                .map(rate -> ((Sweep.SearchedRate.Between) rate).point())
                .toList();
        return knees.size() < arm.size()
                ? Optional.empty()
                : lines(arm).stream()
                        .flatMap(List::stream)
                        .filter(points -> points.stream().anyMatch(knees::contains))
                        .min(Comparator.comparingDouble(SweepSection::offered));
    }

    /** Returns the label of an arm's knee: the flags by which it differs from others. */
    private String kneeLabel(List<Sweep.Settings> arm) {
        List<Map<String, String>> all =
                arms().stream().map(other -> withoutSeed(other.getFirst())).toList();
        String flags = withoutSeed(arm.getFirst()).entrySet().stream()
                .filter(flag -> all.stream().anyMatch(other -> !flag.getValue().equals(other.get(flag.getKey()))))
                .map(Map.Entry::getValue)
                .collect(Collectors.joining(", "));
        return (arm.size() > 1 ? "lowest knee" : "knee") + (flags.isEmpty() ? "" : " of " + flags);
    }

    private static DoubleStream values(List<SweepPoint> points, String metric) {
        return points.stream().flatMapToDouble(point -> point.metric(metric).stream());
    }

    private static double median(List<SweepPoint> points, String metric) {
        return Summary.of(values(points, metric).toArray()).p50();
    }

    /** Returns a style that settings share if they differ only in the seed. */
    private int style(Sweep.Settings settings) {
        List<Map<String, String>> distinct = sweep.bySettings().stream()
                .map(SweepSection::withoutSeed)
                .distinct()
                .toList();
        return Chart.style(distinct.indexOf(withoutSeed(settings)));
    }

    /** Returns the flags and the number of seeds, if there are several. */
    private String seriesName(Sweep.Settings settings) {
        Map<String, String> flags = withoutSeed(settings);
        long seeds = sweep.bySettings().stream()
                .filter(other -> withoutSeed(other).equals(flags))
                .count();
        return seeds == 1 ? label(settings.flags()) : label(flags) + ", " + seeds + " seeds";
    }

    private static Map<String, String> withoutSeed(Sweep.Settings settings) {
        Map<String, String> flags = new LinkedHashMap<>(settings.flags());
        flags.remove(Sweep.SEED);
        return flags;
    }

    /** Returns the mark at the medians of points; hollow if one is invalid. */
    private static Chart.Mark mark(int style, List<SweepPoint> points, String metric, String label) {
        return new Chart.Mark(
                style,
                offered(points),
                median(points, metric),
                label,
                !points.stream().allMatch(SweepPoint::counts));
    }

    private static double offered(List<SweepPoint> points) {
        return median(points, SweepPoint.OFFERED_RATE);
    }

    /** Draws every point in its setting's color, and a neutral line through the Pareto front. */
    private Block.Figure pareto() {
        List<SweepPoint> best = sweep.pareto();
        List<Chart.Series> series = new ArrayList<>();
        List<Chart.Mark> marks = new ArrayList<>();
        series.add(new Chart.Series(
                "Pareto front",
                Chart.NEUTRAL,
                best.stream().map(point -> Sweep.tokensPerUser(point).orElse(0)).toList(),
                best.stream().map(SweepSection::throughput).toList()));
        for (Sweep.Settings settings : sweep.bySettings()) {
            int style = style(settings);
            series.add(new Chart.Series(seriesName(settings), style, List.of(), List.of()));
            settings.points().stream()
                    .filter(point -> Sweep.tokensPerUser(point).isPresent())
                    .map(point -> new Chart.Mark(
                            style, Sweep.tokensPerUser(point).orElse(0), throughput(point), "", !point.counts()))
                    .forEach(marks::add);
        }
        return new Chart("Throughput against speed (Pareto)", "tokens/s of one user", "tokens/s of all", series, false)
                .withMarks(marks)
                .figure();
    }

    private static double throughput(SweepPoint point) {
        return point.metric("output_throughput").orElse(0);
    }

    private Block.Table table() {
        List<String> shown = new ArrayList<>(SHOWN);
        sweep.points().stream()
                .flatMap(point -> point.metrics().keySet().stream())
                .filter(metric -> RunMetrics.isPercentile(metric, study.percentiles()))
                .filter(metric -> !shown.contains(metric))
                .distinct()
                .forEach(shown::add);
        if (sweep.points().stream()
                .anyMatch(point -> point.metric(SweepPoint.EXTRAPOLATED_SHARE).isPresent())) {
            shown.add(SweepPoint.EXTRAPOLATED_SHARE);
        }
        List<String> head = new ArrayList<>(List.of("point"));
        shown.forEach(metric -> head.add(Markup.metricWithUnit(metric)));
        head.addAll(List.of("failed", "meets", "valid"));
        List<List<String>> rows = new ArrayList<>();
        for (Sweep.Settings settings : sweep.bySettings()) {
            for (SweepPoint point : settings.points()) {
                List<String> row = new ArrayList<>(List.of(label(point.flags())));
                for (String metric : shown) {
                    OptionalDouble value = point.metric(metric);
                    row.add(value.isPresent() ? Markup.number(value.getAsDouble()) : "–");
                }
                row.add("" + point.failed());
                row.add(
                        point.meets(sweep.attainment())
                                ? "yes"
                                : point.keepsUp()
                                        ? "no"
                                        : point.isTooShort() && point.isWithin(sweep.attainment())
                                                ? "unknown: too short"
                                                : "no: behind");
                row.add(point.counts() ? "yes" : "no: " + point.reasons().getFirst());
                rows.add(row);
            }
        }
        return new Block.Table(head, rows);
    }
}
