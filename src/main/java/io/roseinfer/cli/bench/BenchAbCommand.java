package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.compare.CompareJson;
import io.roseinfer.bench.compare.Comparison;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.report.Figures;
import io.roseinfer.bench.report.JsonParts;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.flags.JsonFlag;
import io.roseinfer.cli.flags.PageFlags;
import io.roseinfer.cli.flags.Ranges;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@picocli.CommandLine.Command(
        name = "ab",
        description = {
            "Compare two settings, or two servers, by pairs of runs of the same requests, A B B A, with an interval on the ratio.",
            "Takes all flags of bench serve, for both; --a and --b add to them."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer =
                "%nEnds with exit code 9 when the interval excludes that B is no worse, and 8 when too many runs do not count.")
public final class BenchAbCommand implements Command {
    private static final int WORSE = 9;
    private static final int INVALID = 8;

    /** This command's own flags, each with one value. */
    private static final Set<String> OWN =
            Set.of("--a", "--b", "--pairs", "--metric", "--no-worse-than", "--json", "--report", "--csv");

    @Option(
            names = "--a",
            paramLabel = "<FLAGS>",
            description = "Flags of one arm, as one word, or its URL.",
            defaultValue = "",
            showDefaultValue = Visibility.NEVER)
    private String a = "";

    @Option(
            names = "--b",
            paramLabel = "<FLAGS>",
            description = "Flags of the other arm.",
            defaultValue = "",
            showDefaultValue = Visibility.NEVER)
    private String b = "";

    @Option(
            names = "--pairs",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Pairs of runs, an even number of 10 or more.")
    private int pairs = 20;

    @Option(
            names = "--metric",
            paramLabel = "<FIGURE>",
            description =
                    "The figure that decides, by its name in the results, as in p99_ttft_ms or output_throughput.")
    private String metric = "median_e2el_ms";

    @Option(
            names = "--no-worse-than",
            paramLabel = "<PERCENT>",
            converter = Ranges.Millis.class,
            description = "By how much B may be worse.")
    private double noWorseThan;

    @Mixin
    private JsonFlag json = new JsonFlag();

    @Mixin
    private PageFlags pages = new PageFlags();

    @Mixin
    private ServeFlags flags = new ServeFlags();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        if (pairs % 2 == 1 || pairs < Comparison.FEWEST_PAIRS) {
            throw new BadInput("--pairs is " + pairs + "; it must be even, for blocks of A B B A, and at least "
                    + Comparison.FEWEST_PAIRS + " for an interval");
        }
        if (!Figures.names().contains(metric)) {
            throw new BadInput("--metric is '" + metric + "'; it must be one of " + String.join(", ", Figures.names()));
        }
        Optional<ResultFile> file = json.file();
        pages.check();
        List<String> shared = ServeCommandLine.without(OWN, Arguments.of(command));
        ServeCommandLine base = ServeCommandLine.parse("bench ab", shared);
        ServeCommandLine first = base.with("--a", arm(a));
        ServeCommandLine second = base.with("--b", arm(b));
        requireSameLoad(first, second);
        if (isOneServer(first, second)) {
            terminal.note(
                    "both arms ask the same server: the second run of a pair may find the first one's prompts in its"
                            + " prefix cache, so switch that off there");
        }
        Comparison.Pairs measured;
        Set<JsonNode> environments = new LinkedHashSet<>();
        try (SystemUnderTest one = SystemUnderTest.open(first, terminal);
                SystemUnderTest other = SystemUnderTest.open(second, terminal)) {
            environments.add(JsonParts.machine(one.environment()));
            environments.add(JsonParts.machine(other.environment()));
            Set<String> told = new HashSet<>();
            measured = measure(arm(first, one, told, terminal), arm(second, other, told, terminal), terminal);
        }
        if (measured.all().size() < pairs) {
            terminal.note("the comparison does not count: " + measured.discarded() + " pairs had a run that does not");
            return INVALID;
        }
        Comparison comparison = Comparison.of(measured.all(), flags.seed());
        CompareJson.Arms arms = new CompareJson.Arms(arm(a), arm(b), metric, noWorseThan / 100, measured.discarded());
        ObjectNode document = CompareJson.of(
                comparison,
                arms,
                Arguments.command(command, shared),
                flags.objective().goodput(),
                environments);
        file.ifPresent(to -> to.write(document));
        pages.write("ab", () -> document);
        terminal.print(ComparisonReport.text(comparison, arms));
        return comparison.isWorse(metric, noWorseThan / 100) ? WORSE : 0;
    }

    /** A URL alone is a server's. */
    private static List<String> arm(String text) {
        return text.matches("https?://\\S+") ? List.of("--base-url=" + text) : ServeCommandLine.words(text);
    }

    private static void requireSameLoad(ServeCommandLine one, ServeCommandLine other) {
        OfferedLoad a = one.flags().load(one.command(), 0).offered();
        OfferedLoad b = other.flags().load(other.command(), 0).offered();
        if (a.requests().size() != b.requests().size()) {
            throw new BadInput(
                    "--a and --b offer different loads, of " + a.requests().size() + " and "
                            + b.requests().size() + " requests; pairs are of the same requests");
        }
    }

    private static boolean isOneServer(ServeCommandLine one, ServeCommandLine other) {
        return one.flags().endpoint().backend() == EndpointFlags.Kind.HTTP
                && other.flags().endpoint().backend() == EndpointFlags.Kind.HTTP
                && one.flags()
                        .endpoint()
                        .baseUrl()
                        .equals(other.flags().endpoint().baseUrl());
    }

    private Comparison.Pairs measure(Comparison.Arm one, Comparison.Arm other, Terminal terminal) {
        Comparison.Pairs measured = new Comparison.Pairs(one, other);
        for (long seed = flags.seed(); measured.all().size() < pairs && measured.discarded() <= pairs; seed++) {
            if (measured.measure(seed)) {
                int number = measured.all().size();
                terminal.note(ComparisonReport.line(number, measured.all().getLast(), metric));
            }
        }
        return measured;
    }

    /**
     * An arm that is measured by running a system.
     *
     * @param told remedies that were told; each is told once
     */
    private static Comparison.Arm arm(
            ServeCommandLine line, SystemUnderTest system, Set<String> told, Terminal terminal) {
        return seed -> {
            ServeFlags.Load load = line.flags().load(line.command(), seed);
            LoadResult result = system.run(line.flags(), load.offered());
            Verdict verdict = line.flags().verdict(result, Optional.empty());
            verdict.reasons().forEach(reason -> terminal.note("a run does not count: " + reason));
            verdict.remedies().stream().filter(told::add).forEach(remedy -> terminal.note("to do: " + remedy));
            return verdict.isValid()
                    ? Optional.of(Figures.of(result, line.flags().objective().goodput()))
                    : Optional.empty();
        };
    }
}
