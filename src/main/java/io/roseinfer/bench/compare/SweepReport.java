package io.roseinfer.bench.compare;

import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.Objectives;
import io.roseinfer.bench.report.RunMetrics;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Formats the results of {@code bench sweep}: a line per point with a bar of its goodput, and for each setting the knee and the highest rate
 * that meets the objective ({@link Sweep} defines both), also over seeds.
 */
public final class SweepReport {
    private static final int BAR = 24;

    /** Maximum decimal places of a percentage of good requests. */
    private static final int MAX_DIGITS = 6;

    /** Significant digits of a rate. */
    private static final int RATE_DIGITS = 4;

    private SweepReport() {}

    /**
     * Returns a line for one point, without a newline.
     *
     * @param attainment share of requests that must be good, 0 to 1
     */
    public static String line(SweepPoint point, double attainment) {
        return flags(point.flags())
                + String.format(
                        Locale.ROOT,
                        ": %s, TTFT p99 %s ms, TPOT p50 %s ms%s",
                        goodput(point, attainment),
                        number(point, "p99_ttft_ms"),
                        number(point, "median_tpot_ms"),
                        point.counts()
                                ? backlog(point, attainment)
                                : ", INVALID: " + point.reasons().getFirst());
    }

    private static String goodput(SweepPoint point, double attainment) {
        String rate = String.format(
                Locale.ROOT, "%.2f requests/s", point.metric("request_goodput").orElse(0));
        return point.metric(RunMetrics.GOOD_SHARE).isPresent()
                ? "goodput " + rate + ", " + good(point, attainment) + " % good"
                : rate;
    }

    private static String backlog(SweepPoint point, double attainment) {
        String mark = mark(point, attainment);
        return mark.isEmpty()
                ? ""
                : String.format(
                        Locale.ROOT,
                        ",%s: requests in flight grew by %.1f %% of the arrivals%s",
                        mark,
                        100 * point.metric(SweepPoint.BACKLOG_GROWTH).orElse(0),
                        point.isUndecided(attainment) ? "; to decide, give " + needed(point) : "");
    }

    private static String mark(SweepPoint point, double attainment) {
        return !point.counts()
                ? " INVALID"
                : point.keepsUp() ? "" : point.isUndecided(attainment) ? " TOO SHORT" : " BEHIND";
    }

    /** Returns the percentage of good requests, with as many digits as show that it is below the attainment; a dash without bounds. */
    private static String good(SweepPoint point, double attainment) {
        if (point.metric(RunMetrics.GOOD_SHARE).isEmpty()) {
            return "-";
        }
        double percent = 100 * point.goodShare();
        String text = String.format(Locale.ROOT, "%.1f", percent);
        for (int digits = 2;
                digits <= MAX_DIGITS && !point.isWithin(attainment) && Double.parseDouble(text) >= 100 * attainment;
                digits++) {
            text = String.format(Locale.ROOT, "%." + digits + "f", percent);
        }
        return text;
    }

    private static String needed(SweepPoint point) {
        return String.format(
                Locale.ROOT,
                "--num-prompts %.0f",
                point.metric(SweepPoint.NEEDED_REQUESTS).orElse(0));
    }

    /** Returns the name of a point. */
    public static String flags(Map<String, String> flags) {
        return flags.isEmpty()
                ? "all"
                : flags.entrySet().stream()
                        .map(flag -> flag.getKey() + "=" + flag.getValue())
                        .collect(Collectors.joining(" "));
    }

    private static String known(SweepPoint point, String metric, String format, double factor) {
        OptionalDouble value = point.metric(metric);
        return value.isPresent() ? String.format(Locale.ROOT, format, factor * value.getAsDouble()) : "-";
    }

    private static String number(SweepPoint point, String metric) {
        return known(point, metric, "%.2f", 1);
    }

    /**
     * Returns the table and the searched rates. Every line ends with a newline.
     *
     * @param study describes the runs: its objectives, and the percentiles of TTFT and TPOT to show
     */
    public static String text(Sweep sweep, Study study) {
        Objectives objectives = study.objectives();
        List<String> latencies = latencies(study);
        Formatter out = new Formatter(Locale.ROOT);
        out.format("=== sweep: %d points%s ===\n", sweep.points().size(), objective(sweep, objectives));
        int width = sweep.points().stream()
                .mapToInt(point -> flags(point.flags()).length())
                .max()
                .orElse(0);
        width = Math.max(width, "point".length());
        boolean isMeasured = hasExtrapolation(sweep);
        out.format(
                "%-" + width + "s %9s %9s %11s %9s %7s %6s%s %10s %8s %6s%s  goodput\n",
                "point",
                "requests",
                "offered/s",
                "growth %",
                "goodput/s",
                "good %",
                "failed",
                columns(latencies.stream().map(SweepReport::title)),
                "tokens/s",
                "preempts",
                "hit %",
                isMeasured ? "  extrap %" : "");
        double most = sweep.points().stream()
                .mapToDouble(point -> point.metric("request_goodput").orElse(0))
                .max()
                .orElse(1);
        for (Sweep.Settings settings : sweep.bySettings()) {
            for (SweepPoint point : settings.points()) {
                row(out, sweep, point, width, most, latencies, isMeasured);
            }
        }
        if (sweep.variesRate()) {
            sweep.bySettings().forEach(settings -> settings(out, sweep, settings, objectives));
            sweep.kneesOverSeeds().forEach(pooled -> overSeeds(out, "Knee", pooled));
            if (!objectives.isEmpty()) {
                sweep.overSeeds().forEach(pooled -> overSeeds(out, "Highest rate", pooled));
                sweep.bySeed()
                        .forEach(compared ->
                                out.format("Highest rate by seed%s: %s\n", of(compared.flags()), bySeedText(compared)));
                caution(sweep, study).ifPresent(caution -> out.format("%s\n", caution));
            }
        }
        if (!sweep.invalid().isEmpty()) {
            out.format(
                    "Invalid: %d of %d points\n",
                    sweep.invalid().size(), sweep.points().size());
        }
        return out.toString();
    }

    private static void overSeeds(Formatter out, String what, Sweep.OverSeeds pooled) {
        out.format("%s over seeds%s: %s\n", what, of(pooled.flags()), seedsText(pooled, SweepReport::fourDigits));
    }

    /** Returns a caution on the highest rates in simulated time, which leave out the costs' error; empty if there are none. */
    public static Optional<String> caution(Sweep sweep, Study study) {
        List<Environment> environments = study.environments();
        if (!sweep.variesRate()
                || study.objectives().isEmpty()
                || environments.isEmpty()
                || environments.stream().anyMatch(each -> each.simulated().isEmpty())) {
            return Optional.empty();
        }
        List<Map<String, Double>> known = environments.stream()
                .map(Environment::errors)
                .filter(errors -> !errors.isEmpty())
                .toList();
        String error = known.isEmpty()
                ? "unknown"
                : Environment.Validation.words(Environment.errors(known.stream()))
                        + (known.size() == environments.size() ? "" : "; unknown at some points");
        return Optional.of("Rates do not include the largest error of the step costs: " + error);
    }

    /** Describes a comparison by seed. */
    public static String bySeedText(Sweep.BySeed compared) {
        return String.format(
                Locale.ROOT,
                "higher than%s for %d, lower for %d of %d seeds%s",
                of(compared.first()),
                compared.higher(),
                compared.lower(),
                compared.seeds(),
                compared.extrapolated() == 0
                        ? ""
                        : ", undecided for " + compared.extrapolated()
                                + ": over 5 % of the simulated time is extrapolated");
    }

    private static String objective(Sweep sweep, Objectives objectives) {
        List<String> good = new ArrayList<>();
        if (!objectives.goodput().isEmpty()) {
            good.add(bounds(objectives.goodput()));
        }
        objectives.slos().forEach((name, slo) -> good.add(name + " " + bounds(slo)));
        return good.isEmpty()
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; objective: %s for at least %s %% of requests",
                        String.join("; ", good),
                        number(100 * sweep.attainment()));
    }

    private static String number(double value) {
        return BigDecimal.valueOf(value)
                .round(new MathContext(6))
                .stripTrailingZeros()
                .toPlainString();
    }

    private static String bounds(Map<String, Double> bounds) {
        return bounds.entrySet().stream()
                .map(bound -> bound.getKey().toUpperCase(Locale.ROOT) + " ≤ " + number(bound.getValue()) + " ms")
                .sorted()
                .collect(Collectors.joining(" and "));
    }

    private static boolean hasExtrapolation(Sweep sweep) {
        return sweep.points().stream()
                .anyMatch(point -> point.metric(SweepPoint.EXTRAPOLATED_SHARE).isPresent());
    }

    /** Returns the shown metrics of latencies: percentiles of TPOT other than the median only if the study names percentiles. */
    private static List<String> latencies(Study study) {
        List<String> names = new ArrayList<>();
        for (String latency : List.of("ttft", "tpot")) {
            names.add("median_" + latency + "_ms");
            if (latency.equals("ttft") || !study.percentiles().isEmpty()) {
                study.shownPercentiles().forEach(each -> names.add(RunMetrics.percentile(each, latency)));
            }
        }
        return names;
    }

    /** Returns the title of a latency's column, as in {@code TTFT p99} for {@code p99_ttft_ms}. */
    private static String title(String metric) {
        String[] words = metric.split("_");
        return words[1].toUpperCase(Locale.ROOT) + " " + words[0].replace("median", "p50");
    }

    private static String columns(Stream<String> texts) {
        return texts.map(text -> String.format(Locale.ROOT, " %10s", text)).collect(Collectors.joining());
    }

    private static void row(
            Formatter out,
            Sweep sweep,
            SweepPoint point,
            int width,
            double most,
            List<String> latencies,
            boolean isMeasured) {
        double goodput = point.metric("request_goodput").orElse(0);
        OptionalDouble offered = point.metric(SweepPoint.OFFERED_RATE);
        out.format(
                "%-" + width + "s %9s %9s %11s %9.2f %7s %6d%s %10s %8s %6s%s  %s%s\n",
                flags(point.flags()),
                known(point, SweepPoint.REQUESTS, "%.0f", 1),
                offered.isPresent() ? fourDigits(offered.getAsDouble()) : "-",
                known(point, SweepPoint.BACKLOG_GROWTH, "%.1f", 100),
                goodput,
                good(point, sweep.attainment()),
                point.failed(),
                columns(latencies.stream().map(metric -> number(point, metric))),
                number(point, "output_throughput"),
                known(point, "preemptions", "%.0f", 1),
                known(point, "cache_hit_rate", "%.1f", 100),
                isMeasured
                        ? String.format(Locale.ROOT, " %9s", known(point, SweepPoint.EXTRAPOLATED_SHARE, "%.1f", 100))
                        : "",
                "#".repeat((int) Math.round(BAR * goodput / Math.max(most, 1e-9))),
                mark(point, sweep.attainment()));
    }

    private static void settings(Formatter out, Sweep sweep, Sweep.Settings settings, Objectives objectives) {
        if (settings.points().stream()
                .noneMatch(point -> point.metric(SweepPoint.OFFERED_RATE).isPresent())) {
            return;
        }
        String of = of(settings.flags());
        if (!sweep.isPooled(settings)) {
            out.format("Knee%s: %s\n", of, rateText(sweep.knee(settings)));
        }
        if (!objectives.isEmpty()) {
            Sweep.SearchedRate highest = sweep.highest(settings);
            out.format("Highest rate that meets the objective%s: %s\n", of, rateText(highest));
            OptionalDouble missed = sweep.missedAtLowest(settings.flags());
            missed.ifPresent(share -> out.format("%s\n", lowestText(share)));
            if (highest instanceof Sweep.SearchedRate.Between found
                    && found.beyond().stream().anyMatch(point -> point.isWithin(sweep.attainment()))) {
                out.format("The next point is within the bounds but BEHIND: its requests in flight grew while requests"
                        + " arrived, so a longer load (--num-prompts) would miss them.\n");
            }
        }
    }

    /** Describes a share of requests that lower rates do not reduce. */
    public static String lowestText(double share) {
        return String.format(
                Locale.ROOT,
                "Lower rates change nothing: %.1f %% of the requests miss the objective at each of the three lowest",
                100 * share);
    }

    private static String of(Map<String, String> flags) {
        return flags.isEmpty() ? "" : " with " + flags(flags);
    }

    private static String fourDigits(double rate) {
        return String.format(Locale.ROOT, "%." + decimals(rate) + "f", rate);
    }

    /** Returns how many decimal places show four digits of a rate. */
    private static int decimals(double rate) {
        int whole = rate > 0 ? (int) Math.floor(Math.log10(rate)) + 1 : 1;
        return Math.clamp(RATE_DIGITS - whole, 0, MAX_DIGITS);
    }

    /**
     * Describes the range of the highest rates of several seeds.
     *
     * @param number formatter of rates
     */
    public static String seedsText(Sweep.OverSeeds pooled, DoubleFunction<String> number) {
        int known = pooled.seeds() - pooled.unknown();
        String unknown = pooled.unknown() == 0 || known == 0 ? "" : ", unknown for " + pooled.unknown() + " of them";
        String range;
        if (known == 0) {
            range = "unknown";
        } else if (pooled.low().isPresent() && pooled.high().isPresent()) {
            range = number.apply(pooled.low().getAsDouble()) + " to "
                    + number.apply(pooled.high().getAsDouble()) + " requests/s";
        } else if (pooled.low().isPresent()) {
            range = number.apply(pooled.low().getAsDouble()) + " requests/s or more";
        } else if (pooled.high().isPresent()) {
            range = "below " + number.apply(pooled.high().getAsDouble()) + " requests/s";
        } else if (pooled.below() == known) {
            return "below all measured rates (" + known + " of " + pooled.seeds() + " seeds)" + unknown;
        } else {
            range = "from below all measured rates to above them";
        }
        return range + ", " + pooled.seeds() + " seeds" + unknown;
    }

    private static String rateText(Sweep.SearchedRate searched) {
        String why = searched instanceof Sweep.SearchedRate.NotKnown open
                ? " ("
                        + (open.undecided().counts()
                                ? needed(open.undecided())
                                : open.undecided().reasons().getFirst()) + ")"
                : "";
        return rateText(searched, SweepReport::fourDigits) + why;
    }

    /**
     * Describes a searched rate, and how much of the time of its two points is extrapolated if it is large; without the reasons why a point is
     * invalid.
     *
     * @param number formatter of rates
     */
    public static String rateText(Sweep.SearchedRate searched, DoubleFunction<String> number) {
        return switch (searched) {
            case Sweep.SearchedRate.Between found ->
                found.bound()
                                .map(beyond -> "between " + number.apply(offered(found.point())) + " and "
                                        + rate(beyond, number))
                                .orElseGet(() -> rate(found.point(), number) + " or more"
                                        + found.beyond()
                                                .map(beyond -> ", undecided at " + rate(beyond, number)
                                                        + extrapolated(beyond, number))
                                                .orElse(""))
                        + extrapolated(found.point(), number);
            case Sweep.SearchedRate.BelowAll none -> "below all measured rates";
            case Sweep.SearchedRate.NotKnown open ->
                "unknown"
                        + open.least()
                                .map(point -> ", at least " + rate(point, number))
                                .orElse("")
                        + ": the point at " + rate(open.undecided(), number)
                        + (open.undecided().counts() ? " is too short to decide" : " is invalid");
        };
    }

    private static String extrapolated(SweepPoint point, DoubleFunction<String> number) {
        OptionalDouble share = point.muchExtrapolated();
        return share.isEmpty()
                ? ""
                : String.format(Locale.ROOT, "; %.1f %%", 100 * share.getAsDouble()) + " of the simulated time at "
                        + rate(point, number) + " is extrapolated";
    }

    private static double offered(SweepPoint point) {
        return point.metric(SweepPoint.OFFERED_RATE).orElse(Double.POSITIVE_INFINITY);
    }

    private static String rate(SweepPoint point, DoubleFunction<String> number) {
        OptionalDouble rate = point.metric(SweepPoint.OFFERED_RATE);
        return rate.isPresent() ? number.apply(rate.getAsDouble()) + " requests/s" : "an unlimited rate";
    }
}
