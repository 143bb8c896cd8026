package io.roseinfer.bench.compare;

import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.RunMetrics;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Formatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Formats the results of {@code bench ab}: for each metric the medians of both arms and the ratio with its interval, then the verdict. */
public final class ComparisonReport {
    private static final int HALF = 12;
    private static final int MIN_WIDTH = 20;
    /** Minimum factor between 1 and either end of the axis, as a logarithm. */
    private static final double MIN_SPAN = Math.log(1.02);

    /** The metrics printed in addition to the deciding one; files contain all. */
    private static final Set<String> SHOWN = Set.of(
            "median_ttft_ms",
            "median_tpot_ms",
            "median_itl_ms",
            "median_e2el_ms",
            "output_throughput",
            "request_goodput",
            "preemptions",
            "recomputed_tokens",
            "cache_hit_rate",
            "engine_seconds",
            RunMetrics.FAILED_REQUESTS,
            "jain_index",
            "max_service_gap");

    /** The metrics of each tenant and class printed in addition. */
    private static final Pattern SHOWN_OF_GROUPS =
            Pattern.compile("(median_ttft_ms|p99_ttft_ms|output_throughput|good_share)\\{.*");

    /** A note on multiple comparisons. */
    public static final String UNCORRECTED =
            "Intervals are not corrected for multiple comparisons: with identical arms, expect one interval in fifty to exclude 1. Only --metric decides.";

    /** A note on intervals of simulated time. */
    public static final String SIMULATED = "Intervals do not include the error of the step costs.";

    /** Describes a metric of {@link Comparison#isIdentical identical} pairs. */
    public static final String IDENTICAL = "identical in every pair";

    private ComparisonReport() {}

    /** Returns a line for one pair, without a newline. */
    public static String line(int number, Comparison.Pair pair, String metric) {
        double a = pair.a().getOrDefault(metric, 0.0);
        double b = pair.b().getOrDefault(metric, 0.0);
        String ratio = a > 0 && b > 0 ? String.format(Locale.ROOT, "%.4f", b / a) : "–";
        return String.format(Locale.ROOT, "pair %d: %s %.3f and %.3f, ratio %s", number, metric, a, b, ratio);
    }

    /**
     * Returns the table and the verdict. Every line ends with a newline.
     *
     * @param arms the compared arms and the deciding metric
     * @param percentiles the percentiles of latencies to show, 0 to 100
     */
    public static String text(Comparison comparison, ComparisonResult.Arms arms, List<Double> percentiles) {
        Formatter out = new Formatter(Locale.ROOT);
        out.format(
                "=== a/b: %d pairs, A B B A%s ===\n",
                comparison.pairs().size(), arms.discarded() > 0 ? ", " + arms.discarded() + " discarded" : "");
        out.format("A: %s\n", arms.a().isEmpty() ? "no additional flags" : String.join(" ", arms.a()));
        out.format("B: %s\n", arms.b().isEmpty() ? "no additional flags" : String.join(" ", arms.b()));
        Map<String, PairedRatio> shown = new LinkedHashMap<>(comparison.ratios());
        shown.keySet().removeIf(metric -> !isShown(metric, arms, percentiles));
        double span = shown.values().stream()
                .mapToDouble(ratio -> Math.max(-Math.log(ratio.low()), Math.log(ratio.high())))
                .max()
                .orElse(MIN_SPAN);
        span = Math.max(MIN_SPAN, span);
        List<String> zeros = comparison.withZeros().stream()
                .filter(metric -> isShown(metric, arms, percentiles) && !isAlwaysZero(comparison, metric))
                .toList();
        List<String> single = comparison.positive().stream()
                .filter(metric -> comparison.isOfOneRun() && isShown(metric, arms, percentiles))
                .toList();
        int width = Stream.of(shown.keySet(), zeros, single)
                .flatMap(Collection::stream)
                .mapToInt(String::length)
                .reduce(MIN_WIDTH, Math::max);
        boolean hasIntervals =
                shown.keySet().stream().anyMatch(metric -> !Comparison.isIdentical(comparison.pairs(), metric));
        out.format(
                "%-" + width + "s %10s %10s %8s%s\n",
                "metric",
                heading(comparison.pairs(), "median A", "a"),
                heading(comparison.pairs(), "median B", "b"),
                heading(comparison.pairs(), "B / A", "a", "b"),
                hasIntervals
                        ? String.format(Locale.ROOT, "  %-18s %17s  %s", "98 % interval", "detects", axis(span))
                        : "");
        for (Map.Entry<String, PairedRatio> entry : shown.entrySet()) {
            if (Comparison.isIdentical(comparison.pairs(), entry.getKey())) {
                rowWithoutInterval(out, comparison, width, entry.getKey(), "1.0000", IDENTICAL);
            } else {
                row(out, comparison, width, entry, span);
            }
        }
        single.forEach(metric -> rowWithoutInterval(
                out,
                comparison,
                width,
                metric,
                String.format(Locale.ROOT, "%.4f", only(comparison, metric)),
                Comparison.isIdentical(comparison.pairs(), metric) ? IDENTICAL : "no interval"));
        zeros.forEach(metric -> rowWithoutInterval(out, comparison, width, metric, "–", "0 in some run"));
        if (shown.size() > 1) {
            out.format("%s\n", UNCORRECTED);
        }
        notes(comparison.pairs()).forEach(note -> out.format("Note: %s\n", note));
        out.format("%s\n", verdict(comparison, arms));
        return out.toString();
    }

    /**
     * Returns whether tables and charts show a metric of all requests in addition to the deciding one.
     *
     * @param percentiles the percentiles of latencies to show
     */
    public static boolean isShown(String metric, List<Double> percentiles) {
        return SHOWN.contains(metric) || RunMetrics.isPercentile(metric, percentiles);
    }

    private static boolean isShown(String metric, ComparisonResult.Arms arms, List<Double> percentiles) {
        return isShown(metric, percentiles)
                || metric.equals(arms.metric())
                || SHOWN_OF_GROUPS.matcher(metric).matches();
    }

    private static boolean isAlwaysZero(Comparison comparison, String metric) {
        return comparison.pairs().stream()
                .allMatch(pair ->
                        pair.a().getOrDefault(metric, 0.0) == 0 && pair.b().getOrDefault(metric, 0.0) == 0);
    }

    /** Returns the heading of a column of some arms, of {@code a} and {@code b}; it ends in a tilde if one is extrapolated. */
    public static String heading(List<Comparison.Pair> pairs, String name, String... arms) {
        return name + (Collections.disjoint(Comparison.extrapolated(pairs), List.of(arms)) ? "" : "~");
    }

    /** Returns notes about extrapolated time, and about what the arms' policies did not decide. */
    public static List<String> notes(List<Comparison.Pair> pairs) {
        List<String> notes = new ArrayList<>();
        for (String arm : List.of("a", "b")) {
            extrapolated(pairs, arm).ifPresent(note -> notes.add(arm.toUpperCase(Locale.ROOT) + ": " + note));
        }
        forced(pairs, Comparison.Pair::a).ifPresent(note -> notes.add("A: " + note));
        forced(pairs, Comparison.Pair::b).ifPresent(note -> notes.add("B: " + note));
        return notes;
    }

    private static Optional<String> extrapolated(List<Comparison.Pair> pairs, String arm) {
        double most = Comparison.extrapolatedShare(pairs, arm);
        return most < RunValidity.MIN_NOTED_SHARE
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "up to %.1f %% of a run's simulated time is in steps outside the recorded range; their costs are"
                                + " extrapolated",
                        100 * most));
    }

    private static Optional<String> forced(
            List<Comparison.Pair> pairs, Function<Comparison.Pair, Map<String, Double>> arm) {
        double most = pairs.stream()
                .mapToDouble(pair -> arm.apply(pair).getOrDefault(RunMetrics.FORCED_ADMISSIONS, 0.0))
                .max()
                .orElse(0);
        return most == 0
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "up to %.0f admissions of a run were forced by --max-passes, not chosen by the admission policy;"
                                + " --max-passes none lifts the limit",
                        most));
    }

    /** Returns the labels of the axis on which {@link #drawn} draws: its start, 1 in its center, and its end. */
    private static String axis(double span) {
        return String.format(Locale.ROOT, "%-" + HALF + ".2f1%" + HALF + ".2f", Math.exp(-span), Math.exp(span));
    }

    private static void row(
            Formatter out, Comparison comparison, int width, Map.Entry<String, PairedRatio> entry, double span) {
        String metric = entry.getKey();
        PairedRatio ratio = entry.getValue();
        out.format(
                "%-" + width + "s %10.3f %10.3f %8.4f  %-18s %17s  %s\n",
                metric,
                median(comparison, metric, Comparison.Pair::a),
                median(comparison, metric, Comparison.Pair::b),
                ratio.ratio(),
                String.format(Locale.ROOT, "%.4f .. %.4f", ratio.low(), ratio.high()),
                detected(ratio),
                drawn(ratio, span));
    }

    /** Returns the smallest changes that the pairs detect, down and up. */
    public static String detected(PairedRatio ratio) {
        return String.format(
                Locale.ROOT, "%.2f / %+.2f %%", -100 * ratio.smallestDecrease(), 100 * ratio.smallestEffect());
    }

    private static void rowWithoutInterval(
            Formatter out, Comparison comparison, int width, String metric, String ratio, String why) {
        out.format(
                "%-" + width + "s %10.3f %10.3f %8s  %s\n",
                metric,
                median(comparison, metric, Comparison.Pair::a),
                median(comparison, metric, Comparison.Pair::b),
                ratio,
                why);
    }

    /** Returns B / A of equal pairs. */
    private static double only(Comparison comparison, String metric) {
        return median(comparison, metric, Comparison.Pair::b) / median(comparison, metric, Comparison.Pair::a);
    }

    private static double median(
            Comparison comparison, String metric, Function<Comparison.Pair, Map<String, Double>> arm) {
        return Summary.of(comparison.pairs().stream()
                        .mapToDouble(pair -> arm.apply(pair).getOrDefault(metric, 0.0))
                        .toArray())
                .p50();
    }

    /** Draws the interval on a logarithmic axis centered at 1. */
    private static String drawn(PairedRatio ratio, double span) {
        char[] line = " ".repeat(2 * HALF + 1).toCharArray();
        line[HALF] = '|';
        for (int i = column(ratio.low(), span); i <= column(ratio.high(), span); i++) {
            line[i] = '-';
        }
        line[column(ratio.ratio(), span)] = 'o';
        return new String(line).stripTrailing();
    }

    private static int column(double ratio, double span) {
        return Math.clamp(Math.round(HALF + Math.log(ratio) / span * HALF), 0, 2 * HALF);
    }

    /** Returns the shares of extrapolated time that leave a comparison undecided, with the remedy. */
    public static String extrapolated(List<Comparison.Pair> pairs) {
        return Comparison.extrapolated(pairs).stream()
                        .map(arm -> String.format(
                                Locale.ROOT,
                                "%.1f %% of %s's",
                                100 * Comparison.extrapolatedShare(pairs, arm),
                                arm.toUpperCase(Locale.ROOT)))
                        .collect(Collectors.joining(" and ", "up to ", " simulated time is extrapolated (~)"))
                + "; record such steps for --step-costs";
    }

    /** Returns a sentence with the result of the deciding metric. */
    public static String verdict(Comparison comparison, ComparisonResult.Arms arms) {
        if (Comparison.isExtrapolated(comparison.pairs(), arms.metric())) {
            return "Undecided: " + extrapolated(comparison.pairs());
        }
        PairedRatio ratio = comparison.ratios().get(arms.metric());
        boolean worse = comparison.judge(arms.metric(), arms.noWorseThan()) == Comparison.Outcome.WORSE;
        if (ratio == null) {
            return withoutRatio(comparison, arms, worse);
        }
        if (Comparison.isIdentical(comparison.pairs(), arms.metric())) {
            return "No difference shown in " + arms.metric() + ": " + IDENTICAL
                    + ", so the flags of the arms have no effect on it";
        }
        String by = String.format(
                Locale.ROOT,
                "%.2f %% (%.2f to %.2f)",
                percent(ratio.ratio()),
                percent(ratio.low()),
                percent(ratio.high()));
        if (ratio.isEven()) {
            return String.format(
                    Locale.ROOT,
                    "No difference shown in %s: %s; this number of pairs detects changes of %s with a power of 80 %%",
                    arms.metric(),
                    by,
                    detected(ratio));
        }
        boolean better = ratio.ratio() > 1 == RunMetrics.isHigherBetter(arms.metric());
        String allowed = better || arms.noWorseThan() == 0
                ? ""
                : String.format(Locale.ROOT, "; %.1f %% are allowed", 100 * arms.noWorseThan());
        return "B is " + (better ? "better" : "worse") + ": " + arms.metric() + " changes by " + by + allowed;
    }

    /**
     * Returns a caution on the verdict on the deciding metric if both arms are simulated and no error of their costs is known for it, the
     * change is below the error, or no change is shown; empty for identical pairs and much extrapolated time.
     *
     * @param environments the environment of A first and of B last
     */
    public static Optional<String> caution(Comparison comparison, String metric, List<Environment> environments) {
        OptionalDouble change = change(comparison, metric);
        if (change.isEmpty()
                || environments.isEmpty()
                || environments.stream().anyMatch(each -> each.simulated().isEmpty())) {
            return Optional.empty();
        }
        PairedRatio ratio = comparison.ratios().get(metric);
        boolean isShown = ratio == null || !ratio.isEven();
        String remedy = "; measure both before relying on " + (isShown ? "the change" : "this");
        Map<String, Double> a = environments.getFirst().errors();
        Map<String, Double> b = environments.getLast().errors();
        if (a.isEmpty() || b.isEmpty()) {
            String arm = !a.isEmpty() ? " of B" : !b.isEmpty() ? " of A" : "";
            return Optional.of("The costs" + arm + " have an unknown error in these runs" + remedy);
        }
        OptionalDouble error = Environment.Validation.error(Environment.errors(Stream.of(a, b)), metric);
        if (error.isEmpty()) {
            return Optional.of("No compared run measured " + metric + remedy);
        }
        String largest =
                String.format(Locale.ROOT, "below the metric's largest error (%.1f %%)", 100 * error.getAsDouble());
        if (!isShown) {
            return Optional.of("Changes " + largest + " may be missed" + remedy);
        }
        return Math.abs(change.getAsDouble()) < error.getAsDouble()
                ? Optional.of("The change is " + largest + "; measure both before relying on its sign")
                : Optional.empty();
    }

    /** Returns the change of a metric from A to B, as a share; empty if the pairs are identical or leave it undecided. */
    private static OptionalDouble change(Comparison comparison, String metric) {
        PairedRatio ratio = comparison.ratios().get(metric);
        if (Comparison.isIdentical(comparison.pairs(), metric)
                || Comparison.isExtrapolated(comparison.pairs(), metric)) {
            return OptionalDouble.empty();
        }
        if (ratio != null) {
            return OptionalDouble.of(ratio.ratio() - 1);
        }
        return comparison.isOfOneRun() && comparison.positive().contains(metric)
                ? OptionalDouble.of(only(comparison, metric) - 1)
                : OptionalDouble.empty();
    }

    private static String withoutRatio(Comparison comparison, ComparisonResult.Arms arms, boolean worse) {
        if (worse) {
            return "B is worse: " + arms.metric() + " is 0 in every run of "
                    + (RunMetrics.isHigherBetter(arms.metric()) ? "B and in none of A" : "A and in none of B");
        }
        if (comparison.isOfOneRun()) {
            return "Undecided: every pair is the same run, because neither the load nor the step times vary, so there is no"
                    + " interval"
                    + (comparison.positive().contains(arms.metric()) ? changeText(comparison, arms.metric()) : "")
                    + ". Vary the step times (--step-noise) or the arrivals (--request-rate)";
        }
        return "Undecided: "
                + (comparison.pairs().size() < Comparison.MIN_PAIRS
                        ? comparison.pairs().size() + " pairs are valid; an interval needs " + Comparison.MIN_PAIRS
                        : comparison.withZeros().contains(arms.metric())
                                ? arms.metric() + " is 0 in some run, so B / A is undefined"
                                : arms.metric() + " was not measured in every run");
    }

    /** Returns by how much a metric changes if all pairs are equal. */
    private static String changeText(Comparison comparison, String metric) {
        return Comparison.isIdentical(comparison.pairs(), metric)
                ? "; " + metric + " is " + IDENTICAL
                : String.format(Locale.ROOT, "; %s changes by %.2f %%", metric, percent(only(comparison, metric)));
    }

    private static double percent(double ratio) {
        return 100 * (ratio - 1);
    }
}
