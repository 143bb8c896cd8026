package io.roseinfer.bench.report;

import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.report.OperatorSummary.OperatorTime;
import io.roseinfer.metrics.Summary;
import java.util.Formatter;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * Formats the tables of {@code bench --profile-ops}, one per kind of step. Means add up to the step, medians need not. A rate is an
 * operator's work divided by its own time, without waiting.
 */
public final class OperatorReport {
    private OperatorReport() {}

    /** Returns all tables of a run. Every line ends with a newline. */
    public static String text(RunResult run) {
        Formatter out = new Formatter(Locale.ROOT);
        OperatorSummary.of(run.profile()).forEach(summary -> table(out, summary));
        return out.toString();
    }

    private static void table(Formatter out, OperatorSummary steps) {
        out.format(
                "=== operators: %d %s steps, mean %.1f rows and %.1f tokens ===\n",
                steps.stepMicros().count(), word(steps.kind()), steps.meanRows(), steps.meanTokens());
        out.format(
                "%-16s %7s %10s %10s %7s %7s %8s\n",
                "operator", "calls", "mean us", "p50 us", "share", "GB/s", "GFLOP/s");
        steps.operators().forEach(operator -> row(out, operator));
        total(out, "sum", steps.sumMicros(), 1 - steps.unaccounted());
        total(out, "step", steps.stepMicros(), 1);
        out.format("Step not in any operator: %.2f%%\n", 100 * steps.unaccounted());
    }

    private static void row(Formatter out, OperatorTime time) {
        out.format(
                "%-16s %7.0f %10.1f %10.1f %6.1f%% %7s %8s\n",
                word(time.operator()),
                time.callsPerStep(),
                time.micros().mean(),
                time.micros().p50(),
                100 * time.share(),
                rate(time.gigabytesPerSecond()),
                rate(time.gigaflops()));
    }

    private static void total(Formatter out, String name, Summary micros, double share) {
        out.format("%-16s %7s %10.1f %10.1f %6.1f%%\n", name, "", micros.mean(), micros.p50(), 100 * share);
    }

    private static String rate(OptionalDouble rate) {
        return rate.isPresent() ? String.format(Locale.ROOT, "%.1f", rate.getAsDouble()) : "-";
    }

    /** Returns a constant in lower case. */
    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
