package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SpellingSuggestion;
import io.roseinfer.bench.compare.Comparison;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.compare.ComparisonResult;
import io.roseinfer.bench.compare.OfRuns;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.RunMetrics;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.JsonFlag;
import io.roseinfer.cli.flags.PercentilesFlag;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@picocli.CommandLine.Command(
        name = "ab",
        description = {
            "Compare two configurations or servers by pairs of runs of the same requests, in order A B B A, with a confidence interval.",
            "Takes bench serve's flags, except --percentile-metrics, for both arms; --a and --b add to them."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer =
                "%nThe exit code is 9 if B is shown to be worse, and 8 if too many runs are invalid or the result is undecided.")
@Heading("Comparison")
public final class BenchAbCommand implements Command {
    private static final int WORSE = 9;
    private static final int INVALID = 8;

    /** A metric of a tenant or class, as in {@code p99_ttft_ms{tenant=a}}. */
    private static final Pattern OF_GROUP = Pattern.compile("[a-z0-9_]+\\{(tenant|slo)=(.*)}");

    /** The flags of this command that are not flags of {@code bench serve}; each takes one value. */
    private static final Set<String> OWN = Set.of(
            "--a",
            "--b",
            "--pairs",
            "--metric",
            "--no-worse-than",
            "--metric-percentiles",
            "--json",
            "--report",
            "--title",
            "--csv");

    @Option(
            names = "--a",
            paramLabel = "<FLAGS>",
            description = "Flags of arm A as one word, or its URL.",
            defaultValue = "",
            showDefaultValue = Visibility.NEVER)
    private String a = "";

    @Option(
            names = "--b",
            paramLabel = "<FLAGS>",
            description = "Flags of arm B as one word, or its URL.",
            defaultValue = "",
            showDefaultValue = Visibility.NEVER)
    private String b = "";

    @Option(
            names = "--pairs",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Pairs of runs, an even number.")
    @Within(min = Comparison.MIN_PAIRS)
    private int pairs = 20;

    @Option(
            names = "--metric",
            paramLabel = "<METRIC>",
            description =
                    "Metric that decides the comparison, as named in the results, such as p99_ttft_ms or output_throughput.")
    private String metric = "median_e2el_ms";

    @Option(
            names = "--no-worse-than",
            paramLabel = "<PERCENT>",
            preprocessor = Within.Check.class,
            description = "Percentage by which B may be worse.")
    @Within(min = 0)
    private double noWorseThan;

    @Mixin
    private PercentilesFlag percentiles = new PercentilesFlag();

    @Mixin
    private JsonFlag json = new JsonFlag();

    @Mixin
    private ReportFlags pages = new ReportFlags();

    @Mixin
    private BenchServeFlags flags = new BenchServeFlags();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        if (pairs % 2 == 1) {
            throw new BadInput("--pairs is " + pairs + "; it must be even, for blocks of A B B A");
        }
        Optional<ResultFile> file = json.file();
        pages.check(file.stream().toList());
        List<String> shared = ServeCommandLine.without(OWN, Arguments.of(command));
        ServeCommandLine base = ServeCommandLine.parse("bench ab", shared);
        ServeCommandLine first = base.with("--a", arm(a));
        ServeCommandLine second = base.with("--b", arm(b));
        BackendFlags.requireEffect("--a", arm(a), first);
        BackendFlags.requireEffect("--b", arm(b), second);
        requireSameSeed("--a", first);
        requireSameSeed("--b", second);
        requireMetric(requireSameLoad(first, second));
        if (isOneServer(first, second)) {
            terminal.note(
                    "both arms use the same server: the second run of a pair may find the first run's prompts in its"
                            + " prefix cache, so disable that cache");
        }
        Results results = new Results(Arguments.command(command), shared, file);
        Comparison.Pairs measured = measure(first, second, results, terminal);
        return report(results, measured, terminal);
    }

    /** The result file of a comparison, with the environments it was measured in. */
    private final class Results {
        private final List<String> command;
        private final List<String> shared;
        private final Optional<ResultFile> file;
        /** The environments of A and B. */
        private final List<Environment> environments = new ArrayList<>();

        private Results(List<String> command, List<String> shared, Optional<ResultFile> file) {
            this.command = command;
            this.shared = shared;
            this.file = file;
        }

        private ComparisonResult.Arms arms(Comparison.Pairs measured) {
            return new ComparisonResult.Arms(arm(a), arm(b), metric, noWorseThan / 100, measured.discarded());
        }

        private ComparisonResult result(Comparison.Pairs measured) {
            return ComparisonResult.of(
                    Comparison.of(measured.all()),
                    arms(measured),
                    new Study(
                            command,
                            shared,
                            flags.objective().objectives(),
                            percentiles.values(),
                            List.copyOf(environments)));
        }

        /** Writes the pairs so far. */
        private void write(Comparison.Pairs measured) {
            file.ifPresent(to -> to.write(result(measured)));
        }
    }

    private Comparison.Pairs measure(
            ServeCommandLine first, ServeCommandLine second, Results results, Terminal terminal) {
        try (SystemUnderTest one = SystemUnderTest.open(first, terminal);
                SystemUnderTest other = SystemUnderTest.open(second, terminal)) {
            fitLengths(first, one, second, other);
            notesOnSettings(one, other).forEach(terminal::note);
            Set<String> printed = new HashSet<>();
            Comparison.Pairs measured = new Comparison.Pairs(
                    arm("A", first, one, printed, terminal), arm("B", second, other, printed, terminal));
            for (long seed = flags.seed();
                    measured.all().size() < pairs && measured.discarded() <= pairs && !isOneRun(measured);
                    seed++) {
                if (measured.measure(seed)) {
                    terminal.note(ComparisonReport.line(
                            measured.all().size(), measured.all().getLast(), metric));
                }
                results.environments.clear();
                results.environments.add(one.environment().ofMany());
                results.environments.add(other.environment().ofMany());
                results.write(measured);
            }
            return measured;
        }
    }

    /** Returns the notes on the settings of both arms, after the arm for notes on one alone. */
    private static List<String> notesOnSettings(SystemUnderTest one, SystemUnderTest other) {
        List<String> ofA = one.notesOnSettings();
        List<String> ofB = other.notesOnSettings();
        return Stream.concat(
                        ofA.stream().map(note -> ofB.contains(note) ? note : "A: " + note),
                        ofB.stream().filter(note -> !ofA.contains(note)).map(note -> "B: " + note))
                .toList();
    }

    /** Returns whether the first two pairs are equal: so would be all, because the seed has no effect. */
    private static boolean isOneRun(Comparison.Pairs measured) {
        return Comparison.of(measured.all()).isOfOneRun();
    }

    /** Shortens the default lengths of both arms to the smaller context of the in-process engines. */
    private static void fitLengths(
            ServeCommandLine first, SystemUnderTest one, ServeCommandLine second, SystemUnderTest other) {
        Stream.of(one, other)
                .filter(system -> !(system instanceof ServerUnderTest))
                .flatMapToInt(system -> system.contextLength().stream())
                .min()
                .ifPresent(context -> {
                    Optional<String> unusedFirst = first.flags().fitLengths(first.command(), context);
                    Optional<String> unusedSecond = second.flags().fitLengths(second.command(), context);
                });
        OfferedLoad unused = requireSameLoad(first, second);
    }

    /** Prints and writes the results, even if too many runs were invalid, and returns the exit code. */
    private int report(Results results, Comparison.Pairs measured, Terminal terminal) {
        Comparison comparison = Comparison.of(measured.all());
        results.write(measured);
        pages.write("ab", () -> results.result(measured));
        String simulated = OfRuns.simulatedLines(
                OfRuns.arms(results.result(measured).roseinfer().study(), Environment::simulated));
        terminal.print(simulated.isEmpty() ? "" : simulated + ComparisonReport.SIMULATED + "\n");
        terminal.print("Both: " + (results.shared.isEmpty() ? "no flags" : String.join(" ", results.shared)) + "\n");
        terminal.print(ComparisonReport.text(comparison, results.arms(measured), percentiles.values()));
        ComparisonReport.caution(comparison, metric, results.environments)
                .ifPresent(caution -> terminal.print(caution + "\n"));
        if (measured.all().size() < pairs && !comparison.isOfOneRun()) {
            terminal.note("the comparison is invalid: " + measured.all().size() + " of " + pairs
                    + " pairs were measured, " + measured.discarded() + " had an invalid run");
            return INVALID;
        }
        return switch (comparison.judge(metric, noWorseThan / 100)) {
            case WORSE -> WORSE;
            case NOT_WORSE -> 0;
            case UNDECIDED -> INVALID;
        };
    }

    /** Returns the arguments of an arm; a single URL stands for {@code --base-url}. */
    private static List<String> arm(String text) {
        return text.matches("https?://\\S+") ? List.of("--base-url=" + text) : ServeCommandLine.words(text);
    }

    private void requireMetric(OfferedLoad load) {
        boolean hasDeadlines =
                load.turns().anyMatch(turn -> turn.traits().deadlineMillis().isPresent());
        boolean isGoodput = metric.startsWith(RunMetrics.REQUEST_GOODPUT) || metric.startsWith(RunMetrics.GOOD_SHARE);
        if (isGoodput && flags.objective().objectives().isEmpty() && !hasDeadlines) {
            throw new BadInput("--metric is '" + metric + "', but no request has bounds; add --goodput, as in --goodput"
                    + " ttft:200 tpot:50, or --slo");
        }
        List<String> names = RunMetrics.names(load, percentiles.values());
        if (!names.contains(metric)) {
            Matcher group = OF_GROUP.matcher(metric);
            if (group.matches()) {
                String kind = group.group(1);
                List<String> values = names.stream()
                        .map(OF_GROUP::matcher)
                        .filter(other -> other.matches() && other.group(1).equals(kind))
                        .map(other -> other.group(2))
                        .distinct()
                        .toList();
                if (!values.contains(group.group(2))) {
                    throw new BadInput("--metric is '" + metric + "', but the load has no "
                            + (values.isEmpty()
                                    ? kind + "s"
                                    : kind + " " + group.group(2) + "; it has " + String.join(", ", values)));
                }
            }
            throw new BadInput("--metric is '" + metric + "'"
                    + (near(names).isEmpty()
                            ? "; it must be one of " + String.join(", ", names)
                            : SpellingSuggestion.suggestion(near(names)) + " It must be one of "
                                    + String.join(", ", names)));
        }
    }

    /** Returns the names with the fewest edits, or else those that contain the given one. */
    private List<String> near(List<String> names) {
        List<String> nearest = SpellingSuggestion.nearest(metric, names);
        return nearest.isEmpty() && !metric.isEmpty()
                ? names.stream().filter(name -> name.contains(metric)).toList()
                : nearest;
    }

    /** Rejects the seed of an arm: each pair sets the seed of both. */
    private void requireSameSeed(String arm, ServeCommandLine line) {
        if (line.flags().seed() != flags.seed()) {
            throw new BadInput(arm + " has --seed " + line.flags().seed()
                    + "; each pair sets the seed of both arms, so give" + " --seed once, for the first pair");
        }
    }

    /** Returns the load of both arms, after verifying that it is the same. */
    private static OfferedLoad requireSameLoad(ServeCommandLine one, ServeCommandLine other) {
        OfferedLoad a = one.flags().load(one.command(), 0).offered();
        OfferedLoad b = other.flags().load(other.command(), 0).offered();
        if (!a.equals(b)) {
            throw new BadInput("--a and --b have different loads, " + difference(a, b)
                    + "; both runs of a pair need the same requests at the same times, so give load flags once");
        }
        one.flags().requireCounted(a);
        other.flags().requireCounted(b);
        return a;
    }

    private static String difference(OfferedLoad a, OfferedLoad b) {
        if (a.requests().size() != b.requests().size()) {
            return a.requests().size() + " and " + b.requests().size() + " requests";
        }
        for (int i = 0; i < a.requests().size(); i++) {
            OfferedRequest one = a.requests().get(i);
            OfferedRequest other = b.requests().get(i);
            if (one.promptTokens() != other.promptTokens()) {
                return "prompts of " + one.promptTokens() + " and " + other.promptTokens() + " tokens for request " + i;
            }
            if (one.outputTokens() != other.outputTokens()) {
                return one.outputTokens() + " and " + other.outputTokens() + " output tokens for request " + i;
            }
            if (one.dueNanos() != other.dueNanos()) {
                return "request " + i + " at " + one.dueNanos() / 1e9 + " s and at " + other.dueNanos() / 1e9 + " s";
            }
        }
        return a.isScheduled() == b.isScheduled() ? "different prompts" : "one with times and one without";
    }

    private static boolean isOneServer(ServeCommandLine one, ServeCommandLine other) {
        return one.flags().endpoint().backend() == EndpointFlags.Kind.HTTP
                && other.flags().endpoint().backend() == EndpointFlags.Kind.HTTP
                && one.flags()
                        .endpoint()
                        .baseUrl()
                        .equals(other.flags().endpoint().baseUrl());
    }

    /**
     * Returns an arm that runs a system.
     *
     * @param name A or B
     * @param printed messages already printed; each is printed once
     */
    private Comparison.Arm arm(
            String name, ServeCommandLine line, SystemUnderTest system, Set<String> printed, Terminal terminal) {
        return seed -> {
            BenchServeFlags.Load load = line.flags().load(line.command(), seed);
            LoadResult result = system.run(line.flags(), load.offered());
            Stream.concat(load.notes().stream(), system.notes(result).stream().map(note -> name + ": " + note))
                    .filter(note -> printed.add(note.replaceAll("[0-9.]+", "")))
                    .forEach(terminal::note);
            RunValidity verdict = line.flags().verdict(result, system, Optional.empty());
            verdict.reasons().forEach(reason -> terminal.note("a run of " + name + " is invalid: " + reason));
            verdict.remedies().stream().filter(printed::add).forEach(remedy -> terminal.note("hint: " + remedy));
            if (!verdict.isValid()) {
                return Optional.empty();
            }
            Map<String, Double> metrics = new LinkedHashMap<>(RunMetrics.of(
                    line.flags().counted(result), line.flags().objective().objectives(), percentiles.values()));
            metrics.put(
                    RunMetrics.FAILED_REQUESTS,
                    (double) result.calls().size() - result.completed().size());
            system.extrapolatedShare(result).ifPresent(share -> metrics.put(SweepPoint.EXTRAPOLATED_SHARE, share));
            return Optional.of(metrics);
        };
    }
}
