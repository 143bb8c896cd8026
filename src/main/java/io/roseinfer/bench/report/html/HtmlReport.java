package io.roseinfer.bench.report.html;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.compare.ComparisonResult;
import io.roseinfer.bench.compare.OfRuns;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.BenchResult;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ModelResult;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ResultJson;
import io.roseinfer.bench.report.ResultKind;
import io.roseinfer.bench.report.SchedulerResult;
import io.roseinfer.bench.report.ServeResult;
import io.roseinfer.bench.report.StepCostResult;
import io.roseinfer.bench.report.StreamingResult;
import io.roseinfer.metrics.Summary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** The HTML report of one or more results: validity, metrics, charts over time, and definitions. */
public final class HtmlReport {
    private static final double NANOS_PER_MILLI = 1e6;

    private static final Map<String, String> DEFINITIONS = definitions();

    private final Optional<String> title;
    private final List<ShownRun> runs = new ArrayList<>();
    private final List<Section> studies = new ArrayList<>();
    private final List<Section> steps = new ArrayList<>();
    /** The source of each of {@code runs}. */
    private final List<String> sources = new ArrayList<>();

    private boolean hasParts;

    /**
     * A part of the page.
     *
     * @param name name of its results; empty if they are several
     * @param source the command and commit of its results, as far as known
     */
    private record Section(String name, String source, List<Block> blocks) {
        List<Block.Figure> figures() {
            return blocks.stream()
                    .flatMap(block -> block instanceof Block.Figures group ? group.figures().stream() : Stream.of())
                    .toList();
        }
    }

    private HtmlReport(Optional<String> title) {
        this.title = title;
    }

    /** Returns the report of result files with a general title. */
    public static String of(List<Path> files) {
        return of(Optional.empty(), files);
    }

    /**
     * Returns the report of result files.
     *
     * @param title the page's title; empty for a general one
     * @throws io.roseinfer.base.RoseException.BadInput if a file is not a result file
     */
    public static String of(Optional<String> title, List<Path> files) {
        return read(title, files).page();
    }

    /**
     * Reads result files for a report.
     *
     * @param title the page's title; empty for a general one
     * @throws io.roseinfer.base.RoseException.BadInput if a file is not a result file
     */
    public static HtmlReport read(Optional<String> title, List<Path> files) {
        HtmlReport report = new HtmlReport(title);
        Set<String> paths = files.stream().map(HtmlReport::path).collect(Collectors.toSet());
        for (Path file : files) {
            String name = Markup.shortest(path(file), paths).replaceFirst("\\.json[^/]*$", "");
            report.add(name, result(FileFailure.shown(file), ResultFile.read(file)));
        }
        return report;
    }

    private static String path(Path file) {
        return file.toAbsolutePath().normalize().toString();
    }

    /** Returns the report of a result with a general title. */
    public static String of(String name, BenchResult result) {
        return of(Optional.empty(), name, result);
    }

    /**
     * Returns the report of a result.
     *
     * @param title the page's title; empty for a general one
     */
    public static String of(Optional<String> title, String name, BenchResult result) {
        HtmlReport report = new HtmlReport(title);
        report.add(name, result);
        return report.page();
    }

    /**
     * Reads the result in a document.
     *
     * @param name name of the document, for messages
     */
    static BenchResult result(String name, JsonNode document) {
        Class<? extends BenchResult> type =
                switch (ResultKind.of(document).orElse(ResultKind.TIMELINE)) {
                    case SERVE -> ServeResult.class;
                    case SWEEP -> SweepResult.class;
                    case AB -> ComparisonResult.class;
                    case SCHEDULER -> SchedulerResult.class;
                    case STEP_COST -> StepCostResult.class;
                    case MODEL -> ModelResult.class;
                    case STREAMING -> document.at("/runs/0/requests").isArray() ? StreamingResult.class : refuse(name);
                    case TIMELINE -> refuse(name);
                };
        return ResultJson.read(name, document, type);
    }

    private static Class<? extends BenchResult> refuse(String name) {
        throw new BadInput(name
                + " has neither runs with requests nor points; a report needs files that benchmarks write by --json");
    }

    /** Adds a result. */
    private void add(String name, BenchResult result) {
        switch (result) {
            case ServeResult served -> {
                ServeResult.Own own = served.roseinfer();
                String source = source(
                        own.command(),
                        List.of(own.environment()),
                        simulated(own.environment()),
                        extrapolated(own.validity().extrapolatedShare().stream()));
                sources.add(source);
                runs.add(ShownRun.of(name, served));
                hasParts |= own.ttftParts().isPresent();
                List<Block> blocks = new ArrayList<>();
                own.replayOf().ifPresent(of -> blocks.addAll(ReplaySection.blocks(name, of)));
                own.groups().ifPresent(groups -> blocks.addAll(GroupSection.blocks(name, groups)));
                own.fleet().ifPresent(fleet -> blocks.addAll(FleetSection.blocks(name, fleet, served.seconds())));
                blocks.addAll(BreakdownSection.blocks(name, own));
                if (!blocks.isEmpty()) {
                    studies.add(new Section(name, source, blocks));
                }
            }
            case StreamingResult streamed -> {
                String source = source(
                        List.of(), List.of(streamed.environment()), simulated(streamed.environment()), List.of());
                ShownRun.of(name, streamed).forEach(run -> {
                    sources.add(source);
                    runs.add(run);
                });
            }
            case SweepResult sweep ->
                studies.add(new Section(
                        name,
                        source(
                                sweep.roseinfer().study(),
                                SweepSection.simulated(sweep.roseinfer().study(), sweep.sweep()),
                                extrapolated(sweep.sweep())),
                        SweepSection.blocks(name, sweep)));
            case ComparisonResult comparison ->
                studies.add(new Section(
                        name,
                        source(
                                comparison.roseinfer().study(),
                                ComparisonSection.simulated(
                                        comparison.roseinfer().study()),
                                ComparisonReport.notes(comparison.roseinfer().pairs())),
                        ComparisonSection.blocks(name, comparison)));
            case ModelResult model -> steps.add(section(name, model.environment(), StepSection.blocks(name, model)));
            case StepCostResult cost -> steps.add(section(name, cost.environment(), StepSection.blocks(name, cost)));
            case SchedulerResult driven ->
                steps.add(section(name, driven.environment(), StepSection.blocks(name, driven)));
            default -> throw new IllegalArgumentException("no page shows " + result.getClass());
        }
    }

    private static Section section(String name, Environment environment, List<Block> blocks) {
        return new Section(name, source(List.of(), List.of(environment), simulated(environment), List.of()), blocks);
    }

    private static String source(Study study, List<OfRuns> simulated, List<String> caveats) {
        return source(study.command(), study.environments(), simulated, caveats);
    }

    private static List<OfRuns> simulated(Environment environment) {
        return environment.simulated().stream()
                .map(costs -> new OfRuns("", costs))
                .toList();
    }

    /** Returns the largest share of extrapolated time of a sweep with its point, if it does not round to 0. */
    private static List<String> extrapolated(Sweep sweep) {
        return sweep.points().stream()
                .max(Comparator.comparingDouble(
                        point -> point.metric(SweepPoint.EXTRAPOLATED_SHARE).orElse(0)))
                .stream()
                .flatMap(most -> extrapolated(most.metric(SweepPoint.EXTRAPOLATED_SHARE).stream()).stream()
                        .map(text ->
                                sweep.points().size() == 1 ? text : text + " at " + SweepSection.label(most.flags())))
                .toList();
    }

    /** Returns the largest share of extrapolated time, if it does not round to 0. */
    private static List<String> extrapolated(DoubleStream shares) {
        return shares.filter(share -> share >= RunValidity.MIN_NOTED_SHARE).max().stream()
                .mapToObj(most ->
                        String.format(Locale.ROOT, "up to %.1f %% of the simulated time is extrapolated", 100 * most))
                .toList();
    }

    /**
     * Returns a command, if known, with file names instead of absolute paths, the commits that it ran at, the sources of simulated
     * times, and caveats.
     */
    private static String source(
            List<String> command, List<Environment> environments, List<OfRuns> simulated, List<String> caveats) {
        List<String> words = Markup.withoutDirectories(command, command);
        return Stream.of(
                        words.isEmpty() ? Stream.<String>of() : Stream.of("roseinfer " + Markup.command(words)),
                        environments.stream()
                                .flatMap(machine -> machine.commit().stream())
                                .distinct()
                                .map(commit -> "commit " + commit),
                        simulated.stream().map(source -> source.named("simulated time") + ", " + source.value()),
                        caveats.stream())
                .flatMap(Function.identity())
                .collect(Collectors.joining("; "));
    }

    private static Map<String, String> definitions() {
        Map<String, String> words = new LinkedHashMap<>();
        words.put(
                "TTFT",
                "time to first token: from just before the request's first byte was written (bench serve) or the submit call"
                        + " started (bench streaming) until the first token arrived");
        words.put(
                "TTFT, scheduled", "the same from the scheduled time of the request, so that a late client is visible");
        words.put(
                "TPOT",
                "time per output token: (last token - first token) / (tokens - 1), for each request with two or more tokens");
        words.put(
                "ITL",
                "inter-token latency: all gaps between two tokens of a request, pooled over requests; a gap before an event"
                        + " of k tokens counts as k gaps of a k-th");
        words.put(
                "Tokens per second",
                "if a server reports only the total tokens of a request, they are spread evenly over its events");
        words.put("Latency", "from the start of TTFT until the last event of the completion");
        words.put(
                "Waiting, streaming",
                "requests that were sent and have no token yet; requests that have a token and have not ended");
        words.put(
                "Queue, prefill, tokens",
                "in the waterfall: sent but not admitted; admitted but without a token; from the first token to the last");
        words.put(
                "KV blocks",
                "blocks held by requests when a step is planned; blocks held only by the prefix cache count as free");
        words.put(
                "Goodput, knee",
                "requests per second completed within all bounds; the highest rate up to which the backlog does not grow and 95 % of"
                        + " the requests are good");
        words.put(
                "Interval",
                "of a comparison: it contains the true ratio in at least 98 of 100 such experiments, by the rank-sum test of pairs"
                        + " measured A B and pairs measured B A");
        words.put("Percentiles", "linear interpolation between the two nearest ranks, over completed requests");
        return words;
    }

    /** Returns the page. */
    public String page() {
        return Page.of(title, blocks());
    }

    /**
     * Returns the page's figures as SVG documents, by file name.
     *
     * @param hasCaption whether notes and the command are below the drawings
     */
    public Map<String, String> figures(boolean hasCaption) {
        Map<String, String> files = new LinkedHashMap<>();
        for (Section section : sections()) {
            if (section.name().isEmpty()) {
                FigureFile.addAll(files, "", section.source(), distributions(), hasCaption);
                List<List<Block.Figure>> ofRuns = overTime();
                for (int i = 0; i < ofRuns.size(); i++) {
                    FigureFile.addAll(files, "", sources.get(i), ofRuns.get(i), hasCaption);
                }
            } else {
                FigureFile.addAll(files, section.name(), section.source(), section.figures(), hasCaption);
            }
        }
        return files;
    }

    private List<Section> sections() {
        List<Section> sections = new ArrayList<>(studies);
        if (!runs.isEmpty()) {
            String name = runs.size() == 1 ? runs.getFirst().name() : "";
            sections.add(new Section(
                    name,
                    sources.stream()
                            .filter(source -> !source.isEmpty())
                            .distinct()
                            .collect(Collectors.joining("; ")),
                    runs()));
        }
        sections.addAll(steps);
        return sections;
    }

    private List<Block> blocks() {
        List<Block> page = new ArrayList<>();
        runs.forEach(run -> page.add(verdict(run)));
        sections().forEach(section -> page.addAll(section.blocks()));
        if (!runs.isEmpty() || !studies.isEmpty()) {
            Map<String, String> words = new LinkedHashMap<>(DEFINITIONS);
            if (hasParts) {
                words.putAll(BreakdownSection.definitions());
            }
            page.add(Block.Heading.of("Definitions"));
            page.add(Block.Terms.of(words));
        }
        if (!runs.isEmpty()) {
            page.add(Block.Heading.of("Environment and settings"));
            for (ShownRun run : runs) {
                page.add(new Block.Heading(3, run.name()));
                page.add(Block.Terms.code(run.about()));
            }
        }
        return page;
    }

    private static Block.Verdict verdict(ShownRun run) {
        boolean valid = run.verdict().map(judged -> judged.isValid()).orElse(true);
        boolean isExtrapolated = run.verdict()
                .map(judged -> !judged.muchExtrapolated().isEmpty())
                .orElse(false);
        Block.Verdict verdict = new Block.Verdict(
                        !valid ? Block.Tone.BAD : isExtrapolated ? Block.Tone.WARN : Block.Tone.GOOD)
                .strong(run.name())
                .text(": " + run.requests().size() + " requests"
                        + (run.failed() > 0 ? ", " + run.failed() + " more failed" : "") + ". ")
                .simulated(run.simulated().stream()
                        .map(costs -> new OfRuns("", costs))
                        .toList());
        run.verdict()
                .ifPresentOrElse(
                        judged -> {
                            if (valid) {
                                verdict.text("The run is valid" + judged.muchExtrapolated() + ".");
                            } else {
                                verdict.strong("The run is invalid.");
                            }
                            items(verdict, judged.reasons());
                            if (!judged.remedies().isEmpty()) {
                                verdict.text("Hint:");
                                items(verdict, judged.remedies());
                            }
                            items(
                                    verdict,
                                    judged.notes().stream()
                                            .filter(note -> !run.simulated()
                                                    .map(costs -> "simulated time, " + costs)
                                                    .equals(Optional.of(note)))
                                            .toList());
                        },
                        () -> verdict.text(
                                "This benchmark measures in the engine's process and has no client to judge."));
        return verdict;
    }

    private static void items(Block.Verdict verdict, List<String> texts) {
        if (!texts.isEmpty()) {
            verdict.items(texts);
        }
    }

    private List<Block.Figure> distributions() {
        List<Block.Figure> distributions = new ArrayList<>();
        distribution("Time to first token", run -> values(run, ShownRun.Request::ttftMillis))
                .ifPresent(distributions::add);
        distribution("Inter-token latency", HtmlReport::gaps).ifPresent(distributions::add);
        distribution("Latency of a request", run -> values(run, r -> OptionalDouble.of(r.latencyMillis())))
                .ifPresent(distributions::add);
        return distributions;
    }

    private List<Block> runs() {
        return List.of(
                Block.Heading.of("Latencies"),
                latencies(),
                new Block.Figures(distributions()),
                Block.Heading.of("Over time"),
                new Block.Figures(overTime().stream().flatMap(List::stream).toList()),
                Block.Heading.of("Metrics"),
                facts());
    }

    private static double[] values(ShownRun run, Function<ShownRun.Request, OptionalDouble> value) {
        return run.requests().stream()
                .flatMapToDouble(request -> value.apply(request).stream())
                .sorted()
                .toArray();
    }

    private static double[] gaps(ShownRun run) {
        return run.requests().stream()
                .flatMapToDouble(request -> Arrays.stream(request.tokens().itlNanos()))
                .map(nanos -> nanos / NANOS_PER_MILLI)
                .sorted()
                .toArray();
    }

    private Block.Table latencies() {
        Map<String, Function<ShownRun, double[]>> metrics = new LinkedHashMap<>();
        metrics.put("TTFT", run -> values(run, ShownRun.Request::ttftMillis));
        if (runs.stream().anyMatch(run -> run.verdict().isPresent())) {
            metrics.put("TTFT, scheduled", run -> values(run, ShownRun.Request::ttftFromDueMillis));
        }
        metrics.put("TPOT", run -> values(run, ShownRun.Request::tpotMillis));
        metrics.put("ITL", HtmlReport::gaps);
        metrics.put("Latency", run -> values(run, r -> OptionalDouble.of(r.latencyMillis())));
        boolean several = runs.size() > 1;
        List<String> head = new ArrayList<>(several ? List.of("ms", "run") : List.of("ms"));
        head.addAll(List.of("p50", "p95", "p99", "mean", "max", "samples"));
        List<List<String>> rows = new ArrayList<>();
        metrics.forEach((name, metric) -> runs.forEach(run -> {
            Summary summary = Summary.of(metric.apply(run));
            List<String> row = new ArrayList<>(several ? List.of(name, run.name()) : List.of(name));
            DoubleStream.of(summary.p50(), summary.p95(), summary.p99(), summary.mean(), summary.max())
                    .forEach(cell -> row.add(summary.count() == 0 ? "–" : Markup.number(cell)));
            row.add(Markup.number(summary.count()));
            rows.add(row);
        }));
        return new Block.Table(several ? 2 : 1, head, rows);
    }

    private Optional<Block.Figure> distribution(String title, Function<ShownRun, double[]> metric) {
        List<Chart.Series> series = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            double[] sorted = metric.apply(runs.get(i));
            if (sorted.length > 0) {
                series.add(Chart.Series.quantiles(runs.get(i).name(), Chart.style(i), sorted));
            }
        }
        return series.isEmpty()
                ? Optional.empty()
                : Optional.of(new Chart(title, "ms", "% of samples at most", series, true).figure());
    }

    /** Returns the charts over time of each run; none of runs without requests. */
    private List<List<Block.Figure>> overTime() {
        List<ShownRun> shown =
                runs.stream().filter(run -> !run.requests().isEmpty()).toList();
        List<Chart> rates = new ArrayList<>();
        List<Chart> inFlight = new ArrayList<>();
        for (ShownRun run : shown) {
            TimeSeries course = TimeSeries.of(run);
            rates.add(new Chart(
                    "Tokens per second" + suffix(run),
                    "time (s)",
                    "tokens/s",
                    List.of(new Chart.Series("tokens/s", 0, course.seconds(), course.tokensPerSecond())),
                    false));
            inFlight.add(new Chart(
                    "Requests in flight" + suffix(run),
                    "time (s)",
                    "requests",
                    List.of(
                            new Chart.Series("waiting for the first token", 1, course.seconds(), course.waiting()),
                            new Chart.Series("streaming", 0, course.seconds(), course.streaming())),
                    false));
        }
        Chart.onEqualAxes(rates);
        Chart.onEqualAxes(inFlight);
        List<List<Block.Figure>> figures = new ArrayList<>();
        int i = 0;
        for (ShownRun run : runs) {
            List<Block.Figure> own = new ArrayList<>();
            if (!run.requests().isEmpty()) {
                own.add(rates.get(i).figure());
                own.add(inFlight.get(i).figure());
                KvUsageChart.figure(run, suffix(run)).ifPresent(own::add);
                Waterfall.figure(run, suffix(run)).ifPresent(own::add);
                i++;
            }
            figures.add(own);
        }
        return figures;
    }

    private String suffix(ShownRun run) {
        return runs.size() > 1 ? ", " + run.name() : "";
    }

    private Block.Table facts() {
        Set<String> names = new LinkedHashSet<>();
        runs.forEach(run -> names.addAll(run.facts().keySet()));
        List<String> head = new ArrayList<>(List.of(""));
        runs.forEach(run -> head.add(run.name()));
        List<List<String>> rows = new ArrayList<>();
        for (String name : names) {
            List<String> row = new ArrayList<>(List.of(name));
            runs.forEach(run -> row.add(run.facts().getOrDefault(name, "–")));
            rows.add(row);
        }
        return new Block.Table(head, rows);
    }
}
