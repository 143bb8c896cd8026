package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Document;
import io.roseinfer.bench.compare.Comparison;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.compare.ComparisonResult;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepReport;
import io.roseinfer.bench.compare.SweepResult;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.FleetUse;
import io.roseinfer.bench.http.GrammarTimes;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.replay.HostTimes;
import io.roseinfer.bench.replay.Pace;
import io.roseinfer.bench.replay.Prediction;
import io.roseinfer.bench.replay.SimulatedRuns;
import io.roseinfer.bench.replay.StepTimes;
import io.roseinfer.metrics.Summary;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Checks that the documentation defines each line and JSON key of {@code bench serve}, {@code sweep}, {@code ab} and {@code replay}. */
class PrintedLinesTest {
    private static final Pattern BOLD = Pattern.compile("\\*\\*([^*]+)\\*\\*");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern ENGINE = Pattern.compile("^(engine \\d+) ");
    private static final Pattern PART = Pattern.compile("([a-z-]+) +-?[0-9.]+ +-?[0-9.]+ +-?[0-9.]+");

    private static final Objectives BOUNDS = Objectives.ofAll(Map.of("ttft", 100.0));

    private static final Study STUDY = new Study(List.of(), List.of(), BOUNDS, List.of(), List.of());

    private static final LoadResult RUN = SimulatedRuns.drafting(
                    new StepTimes(SimulatedRuns.costs(), Pace.EVEN, HostTimes.NONE), 0)
            .run(ofTwoTenants(SimulatedRuns.load(50, 60, 5)))
            .withFleet(new FleetUse(
                    2,
                    List.of(new FleetUse.EngineUse(0, 2, 1, OptionalDouble.of(2), 50, 1, 900, 100)),
                    List.of(new FleetUse.Count(0, 1, 0, 0))))
            .withGrammars(Optional.of(new GrammarTimes(Summary.of(2), Summary.of(3))));

    private static OfferedLoad ofTwoTenants(OfferedLoad load) {
        return new OfferedLoad(
                load.requests().stream()
                        .map(request -> request.withTraits(OfferedRequest.Traits.NONE.withTenant(
                                request.promptTokens() % 2 == 0 ? "even" : "odd")))
                        .toList(),
                load.pacing());
    }

    /** Returns the JSON keys of each label defined by the tables below a heading. */
    private static Map<String, List<String>> defined(String page, String heading) {
        Map<String, List<String>> defined = new LinkedHashMap<>();
        Document.at("src/site/markdown/" + page)
                .section(heading)
                .lines()
                .filter(line -> line.startsWith("| **"))
                .map(line -> line.split(" \\| "))
                .forEach(cells -> all(BOLD, cells[0]).forEach(label -> defined.put(label, all(CODE, cells[1]))));
        return defined;
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).toList();
    }

    private static void requireKeys(Map<String, List<String>> defined, JsonNode document) {
        assertThat(defined.values().stream().flatMap(List::stream))
                .isNotEmpty()
                .allSatisfy(key -> assertThat(document.findValue(key)).as(key).isNotNull());
    }

    /** Returns the label before a line's colon, or the name of an engine or component. */
    private static Stream<String> labels(String line) {
        MatchResult engine = ENGINE.matcher(line).results().findFirst().orElse(null);
        if (engine != null) {
            return Stream.of(engine.group(1));
        }
        MatchResult part = PART.matcher(line).results().findFirst().orElse(null);
        if (part != null) {
            return Stream.of(part.group(1));
        }
        return line.contains(": ")
                ? Stream.of(line.substring(0, line.indexOf(": ")).replaceFirst(" p50/p99/max \\(ms\\)$", ""))
                : Stream.empty();
    }

    private static ServeResult served() {
        RunValidity verdict = new RunValidity(
                        List.of("reason"), List.of("remedy"), List.of("note"), OptionalDouble.empty())
                .withExtrapolated(OptionalDouble.of(0.05));
        Optional<ClientBaseline> floor = Optional.of(new ClientBaseline(1e5, Summary.of(0.1), Summary.of(0.2)));
        Environment environment = new Environment(
                "jdk", Optional.empty(), OptionalInt.empty(), Optional.empty(), Optional.empty(), Optional.empty(), 0);
        ServeResult.About about = new ServeResult.About(
                Map.of(),
                List.of(),
                Map.of("max_batch_size", 8),
                environment,
                List.of(99.0),
                BOUNDS,
                List.of(),
                Map.of(),
                Optional.empty());
        return ServeResult.of(RUN, verdict, floor, Instant.EPOCH, about);
    }

    private static String text(ServeResult result) {
        return new ServeReport(List.of("ttft", "tpot", "itl", "e2el"), List.of(99.0)).text(result);
    }

    /** A device that runs single rows is busy all the time, so its share does not show the load. */
    @Test
    void engine_has_its_output_tokens_per_step() {
        assertThat(text(served())).containsPattern("\\nengine 0 +50 +1 +900 +100 +9\\.0 +50\\.0 ");
    }

    @Test
    void bench_serve_prints_only_documented_lines() {
        ServeResult result = served();
        String text = text(result);
        Map<String, List<String>> defined = defined("reference/metrics.md", "Lines of `bench serve`");
        assertThat(text.lines().flatMap(PrintedLinesTest::labels).distinct())
                .containsExactlyInAnyOrderElementsOf(defined.keySet());
        requireKeys(defined, ResultJson.tree(result));
    }

    /** Returns a header line without the given labels. */
    private static String without(Iterable<String> labels, String headings) {
        List<String> longestFirst = new ArrayList<>();
        labels.forEach(longestFirst::add);
        longestFirst.sort(Comparator.comparingInt(String::length).reversed());
        String left = headings;
        for (String label : longestFirst) {
            left = left.replace(label, " ");
        }
        return left;
    }

    @Test
    void sweep_prints_only_documented_columns_and_lines() {
        RunValidity valid = new RunValidity(List.of(), List.of(), List.of(), OptionalDouble.empty());
        SweepPoint good = SweepPoint.of(Map.of(Sweep.SEED, "0", Sweep.RATE, "60"), RUN, valid, BOUNDS, List.of())
                .with(SweepPoint.EXTRAPOLATED_SHARE, 0.05);
        SweepPoint other = SweepPoint.of(Map.of(Sweep.SEED, "1", Sweep.RATE, "60"), RUN, valid, BOUNDS, List.of());
        SweepPoint invalid = SweepPoint.of(
                Map.of(Sweep.SEED, "0", Sweep.RATE, "70"),
                RUN,
                new RunValidity(List.of("late"), List.of(), List.of(), OptionalDouble.empty()),
                BOUNDS,
                List.of());
        Map<String, Double> overloaded = new LinkedHashMap<>(good.metrics());
        overloaded.put(SweepPoint.OFFERED_RATE, 500.0);
        overloaded.put(SweepPoint.BACKLOG_GROWTH, 0.9);
        SweepPoint behind = new SweepPoint(Map.of(Sweep.SEED, "0", Sweep.RATE, "500"), overloaded, 0, List.of());
        SweepPoint brief = new SweepPoint(Map.of(Sweep.SEED, "0", Sweep.RATE, "600"), overloaded, 0, List.of())
                .with(SweepPoint.OFFERED_RATE, 600)
                .with(SweepPoint.NEEDED_REQUESTS, 900);
        List<SweepPoint> points = new ArrayList<>(List.of(good, invalid, behind, brief, other));
        for (String seed : List.of("0", "1")) {
            Map<String, String> flags = Map.of(Sweep.SEED, seed, Sweep.RATE, "60", "threads", "2");
            points.add(new SweepPoint(flags, other.metrics(), 0, List.of()));
        }
        Sweep sweep = new Sweep(points, 0.99);
        Map<String, List<String>> defined = defined("how-to/compare.md", "Sweep a parameter");
        List<String> lines = SweepReport.text(sweep, STUDY).lines().toList();
        assertThat(without(defined.keySet(), lines.get(1))).isBlank();
        assertThat(lines.get(3)).endsWith(" INVALID");
        assertThat(lines.get(4)).endsWith(" BEHIND");
        assertThat(lines.get(5)).endsWith(" TOO SHORT").doesNotContain("BEHIND");
        assertThat(lines.subList(9, lines.size()).stream()
                        .map(line -> line.replaceFirst("( with [ =a-z0-9]+)?: .*", "")))
                .isNotEmpty()
                .allSatisfy(label -> assertThat(defined).containsKey(label));
        assertThat(String.join("\n", lines)).contains(defined.keySet());
        requireKeys(defined, ResultJson.tree(SweepResult.of(sweep, STUDY)));
    }

    @Test
    void comparison_prints_only_documented_columns_and_lines() {
        List<Comparison.Pair> pairs = LongStream.range(0, 10)
                .mapToObj(seed -> new Comparison.Pair(
                        seed,
                        RunMetrics.of(RUN, BOUNDS),
                        RunMetrics.of(
                                RUN.withCalls(RUN.calls()
                                        .subList((int) seed, RUN.calls().size())),
                                BOUNDS)))
                .toList();
        Comparison comparison = Comparison.of(pairs);
        ComparisonResult.Arms arms = new ComparisonResult.Arms(List.of(), List.of(), "median_e2el_ms", 0, 0);
        Map<String, List<String>> defined = defined("how-to/compare.md", "A/B comparison of two settings or servers");
        List<String> lines = ComparisonReport.text(comparison, arms, STUDY.shownPercentiles())
                .lines()
                .toList();
        assertThat(without(defined.keySet(), lines.get(3)).strip()).matches("0\\.\\d+ +1 +1\\.\\d+");
        assertThat(lines.get(3))
                .contains(defined.keySet().stream()
                        .filter(label -> label.length() > 1)
                        .toList());
        requireKeys(defined, ResultJson.tree(ComparisonResult.of(comparison, arms, STUDY)));
    }

    @Test
    void replay_prints_only_documented_columns() {
        Prediction prediction = Prediction.of(RUN, RUN, Optional.of(RUN));
        Map<String, List<String>> defined = defined("how-to/replay.md", "Read the table");
        ReplayOf of = prediction.replayOf(
                SimulatedRuns.recorded(RUN), List.of("--max-batch-size=1"), true, true, List.of("changed"));
        String headings = Prediction.text(of).lines().findFirst().orElseThrow();
        assertThat(without(defined.keySet(), headings.replaceFirst("^ms", ""))).isBlank();
        assertThat(headings).contains(defined.keySet());
        requireKeys(defined, ResultJson.tree(of));
    }
}
