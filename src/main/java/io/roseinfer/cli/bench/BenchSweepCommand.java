package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.compare.OfRuns;
import io.roseinfer.bench.compare.RateSearch;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepReport;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.JsonFlag;
import io.roseinfer.cli.flags.PercentilesFlag;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

@picocli.CommandLine.Command(
        name = "sweep",
        description = {
            "Run bench serve for every combination of flag values, or find the highest rate that meets an objective.",
            "Takes bench serve's flags, except --percentile-metrics; --goodput is the objective."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nThe exit code is 8 if a point is invalid or the highest rate is wholly unknown.")
@Heading("Sweep")
public final class BenchSweepCommand implements Command {
    private static final int INVALID = 8;

    /** Maximum number of longer runs at one rate of a search, if the load is too short to decide. */
    private static final int MAX_LONGER = 2;

    /** Factor on the required number of requests, which is estimated from the short load. */
    private static final double MARGIN = 1.25;

    /** The flags of this command that are not flags of {@code bench serve} and take one value. */
    private static final Set<String> OWN = Set.of(
            "--vary",
            "--find-rate",
            "--rate-resolution",
            "--attainment",
            "--metric-percentiles",
            "--json",
            "--report",
            "--title",
            "--csv");

    @Option(
            names = "--vary",
            paramLabel = "<FLAG=V[,V...]>",
            description =
                    "Flag of bench serve and its values, as in request-rate=2,4,8; a comma within a value is \\,; can be repeated.",
            showDefaultValue = Visibility.NEVER)
    private List<String> vary = List.of();

    @Option(
            names = "--find-rate",
            paramLabel = "<R>",
            preprocessor = Within.Check.class,
            description =
                    "Search for the highest --request-rate that meets the objective, starting at R; --vary seed=0,1,2,3 adds its range over seeds.",
            showDefaultValue = Visibility.NEVER)
    @Within(above = 0)
    private Optional<Double> findRate = Optional.empty();

    @Option(
            names = "--rate-resolution",
            paramLabel = "<PERCENT>",
            preprocessor = Within.Check.class,
            description =
                    "Stop when the highest passing and the lowest failing rate differ by at most this percentage.")
    @Within(above = 0)
    private double resolution = 5;

    @Option(
            names = "--attainment",
            paramLabel = "<PERCENT>",
            preprocessor = Within.Check.class,
            description = "Percentage of requests that must be within the bounds of --goodput.")
    @Within(min = 0, max = 100)
    private double attainment = 99;

    @Option(
            names = "--resume",
            description =
                    "Keep the valid points of the --json file, if its command was the same, and measure the others.")
    private boolean resume;

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
        if (vary.isEmpty() && findRate.isEmpty()) {
            throw new BadInput("a sweep needs a flag to vary: give --vary request-rate=2,4,8 or --find-rate 4");
        }
        SweepPlan plan = SweepPlan.of(vary);
        if (findRate.isPresent() && plan.varied().containsKey(Sweep.RATE)) {
            throw new BadInput("--find-rate chooses the request rate; leave it out of --vary");
        }
        if (findRate.isPresent() && flags.objective().objectives().isEmpty()) {
            throw new BadInput(
                    "--find-rate needs an objective; give --goodput, as in --goodput ttft:200 tpot:50, or --slo");
        }
        pages.check(json.file().stream().toList());
        List<String> shared = new ArrayList<>(ServeCommandLine.without(OWN, Arguments.of(command)));
        shared.remove("--resume");
        ServeCommandLine base = ServeCommandLine.parse("bench sweep", shared);
        List<ServeCommandLine> unusedLines =
                plan.settings().stream().map(setting -> line(base, setting)).toList();
        SweepFile file = new SweepFile(
                json.file(),
                new Study(
                        Arguments.command(command),
                        shared,
                        flags.objective().objectives(),
                        percentiles.values(),
                        List.of()),
                attainment / 100);
        if (resume) {
            file.resume();
        }
        try {
            measure(plan, base, file, terminal);
        } catch (RoseException failed) {
            if (!file.sweep().points().isEmpty()) {
                report(file, terminal);
            }
            throw failed;
        }
        report(file, terminal);
        Sweep sweep = file.sweep();
        if (sweep.invalid().isEmpty()) {
            return isDecided(sweep, terminal) ? 0 : INVALID;
        }
        terminal.note("the sweep is invalid: " + sweep.invalid().size() + " of "
                + sweep.points().size()
                + " points are invalid; "
                + (json.file().isPresent()
                        ? "--resume measures them again"
                        : "with --json FILE, --resume could measure them again"));
        return INVALID;
    }

    /** Returns whether the points bound the rates that meet the objective, if there is one. */
    private boolean isDecided(Sweep sweep, Terminal terminal) {
        int undecided =
                flags.objective().objectives().isEmpty() ? 0 : sweep.undecided().size();
        if (undecided > 0) {
            terminal.note("the highest rate is unknown for " + undecided + " of "
                    + sweep.bySettings().size() + " settings: a load is too short; give the --num-prompts above");
        }
        return undecided == 0;
    }

    /** Prints and writes the points so far. */
    private void report(SweepFile file, Terminal terminal) {
        pages.write("sweep", file::result);
        Study study = file.result().roseinfer().study();
        terminal.print(OfRuns.simulatedLines(
                OfRuns.points(study, file.sweep().points(), SweepReport::flags, Environment::simulated)));
        terminal.print(SweepReport.text(file.sweep(), study));
    }

    private void measure(SweepPlan plan, ServeCommandLine base, SweepFile file, Terminal terminal) {
        try (SweepRunner runner = new SweepRunner(percentiles.values(), terminal)) {
            for (Map<String, String> setting : plan.settings()) {
                if (findRate.isEmpty()) {
                    SweepPoint unused = point(base, setting, runner, file, terminal);
                } else {
                    RateSearch search = new RateSearch(findRate.get(), resolution / 100);
                    for (OptionalDouble rate = search.next();
                            rate.isPresent()
                                    && file.sweep().missedAtLowest(setting).isEmpty();
                            rate = search.next()) {
                        SweepPoint point = point(
                                base,
                                SweepPlan.with(setting, Sweep.RATE, Double.toString(rate.getAsDouble())),
                                runner,
                                file,
                                terminal);
                        search.tried(rate.getAsDouble(), point.meets(attainment / 100));
                    }
                }
            }
        }
    }

    private SweepPoint point(
            ServeCommandLine base, Map<String, String> setting, SweepRunner runner, SweepFile file, Terminal terminal) {
        Optional<SweepPoint> known = file.find(setting);
        SweepPoint point = known.orElseGet(() -> {
            try {
                return measured(base, setting, runner, file, terminal);
            } catch (RoseException failed) {
                terminal.note("the sweep failed at point " + SweepReport.flags(setting));
                throw failed;
            }
        });
        terminal.note(SweepReport.line(point, attainment / 100) + (known.isPresent() ? " (resumed)" : ""));
        return point;
    }

    private SweepPoint measured(
            ServeCommandLine base, Map<String, String> setting, SweepRunner runner, SweepFile file, Terminal terminal) {
        ServeCommandLine line = line(base, setting);
        SweepPoint measured = runner.measure(line, setting);
        for (int i = 0; i < MAX_LONGER && findRate.isPresent() && mayMeet(measured); i++) {
            terminal.note(SweepReport.line(measured, attainment / 100));
            line = line.with("--find-rate", List.of("--num-prompts=" + longer(measured)));
            measured = runner.measure(line, setting);
        }
        file.add(measured, runner.environment());
        return measured;
    }

    /** Returns whether a longer load could show that the point meets the objective. */
    private boolean mayMeet(SweepPoint point) {
        return point.counts() && point.isTooShort() && point.isWithin(attainment / 100);
    }

    private static long longer(SweepPoint point) {
        return (long) (MARGIN * point.metric(SweepPoint.NEEDED_REQUESTS).orElse(0));
    }

    private static ServeCommandLine line(ServeCommandLine base, Map<String, String> setting) {
        ServeCommandLine line = base.with("--vary", SweepPlan.arguments(setting));
        BackendFlags.requireEffect("--vary", SweepPlan.arguments(setting), line);
        return line;
    }
}
