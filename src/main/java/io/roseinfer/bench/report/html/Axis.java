package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.List;

/**
 * An axis of a drawing.
 *
 * @param low the value at its start; positive if it is logarithmic
 * @param high the value at its end
 * @param from where it starts in the drawing
 * @param to where it ends
 * @param logarithmic whether equal ratios are equal lengths
 * @param ticks values that are named
 */
record Axis(double low, double high, double from, double to, boolean logarithmic, List<Double> ticks) {
    private static final int TICKS = 5;

    /** An axis from 0. */
    static Axis upTo(double high, double from, double to) {
        return new Axis(0, high, from, to, false, even(high));
    }

    /** An axis whose ticks are multiples of a step. */
    static Axis between(double low, double high, double step, double from, double to) {
        List<Double> ticks = new ArrayList<>();
        for (double k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
            ticks.add(k * step);
        }
        return new Axis(low, high, from, to, false, ticks);
    }

    /** A logarithmic axis. */
    static Axis logarithmic(double low, double high, double from, double to) {
        List<Double> ticks = new ArrayList<>();
        for (double decade = Math.pow(10, Math.floor(Math.log10(low))); decade <= high; decade *= 10) {
            for (double tick : new double[] {decade, 2 * decade, 5 * decade}) {
                if (tick >= low && tick <= high) {
                    ticks.add(tick);
                }
            }
        }
        if (ticks.size() > 2 * TICKS) {
            ticks.removeIf(tick -> Math.abs(Math.log10(tick) - Math.rint(Math.log10(tick))) >= 1e-9);
        }
        return new Axis(low, high, from, to, true, ticks);
    }

    /** Returns where a value is in the drawing. */
    double at(double value) {
        double share = logarithmic
                ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
                : (value - low) / (high - low);
        return from + share * (to - from);
    }

    /** Returns a round step of about a fifth of a length. */
    static double step(double length) {
        double rough = length / TICKS;
        double decade = Math.pow(10, Math.floor(Math.log10(rough)));
        return decade * (rough > 5 * decade ? 10 : rough > 2 * decade ? 5 : rough > decade ? 2 : 1);
    }

    /** Returns round values from 0 to the highest. */
    static List<Double> even(double high) {
        double step = step(high);
        List<Double> ticks = new ArrayList<>();
        for (int i = 0; i * step <= high * (1 + 1e-9); i++) {
            ticks.add(i * step);
        }
        return ticks;
    }
}
