package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.List;

/**
 * An axis of a drawing.
 *
 * @param low the value at its start; positive if logarithmic
 * @param high the value at its end
 * @param from coordinate of its start
 * @param to coordinate of its end
 * @param logarithmic whether the scale is logarithmic
 * @param ticks labeled values
 */
record Axis(double low, double high, double from, double to, boolean logarithmic, List<Double> ticks) {
    private static final int TICKS = 5;
    private static final int MIN_TICKS = 3;

    /** Creates an axis from 0. */
    static Axis upTo(double high, double from, double to) {
        return new Axis(0, high, from, to, false, even(high));
    }

    /** Creates an axis whose ticks are multiples of a step. */
    static Axis between(double low, double high, double step, double from, double to) {
        List<Double> ticks = new ArrayList<>();
        for (double k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
            ticks.add(k * step);
        }
        return new Axis(low, high, from, to, false, ticks);
    }

    /** Creates a logarithmic axis. Its ticks are 1, 2 and 5 times powers of ten, or evenly spaced values if the ends are near. */
    static Axis logarithmic(double low, double high, double from, double to) {
        List<Double> ticks = new ArrayList<>();
        for (double decade = Math.pow(10, Math.floor(Math.log10(low))); decade <= high; decade *= 10) {
            for (double tick : new double[] {decade, 2 * decade, 5 * decade}) {
                if (tick >= low && tick <= high) {
                    ticks.add(tick);
                }
            }
        }
        if (ticks.size() < MIN_TICKS) {
            return new Axis(
                    low,
                    high,
                    from,
                    to,
                    true,
                    between(low, high, step(high - low), from, to).ticks());
        }
        if (ticks.size() > 2 * TICKS) {
            ticks.removeIf(tick -> Math.abs(Math.log10(tick) - Math.rint(Math.log10(tick))) >= 1e-9);
        }
        return new Axis(low, high, from, to, true, ticks);
    }

    /** Returns the coordinate of a value. */
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

    /** Returns round values from 0 to a maximum. */
    static List<Double> even(double high) {
        double step = step(high);
        List<Double> ticks = new ArrayList<>();
        for (int i = 0; i * step <= high * (1 + 1e-9); i++) {
            ticks.add(i * step);
        }
        return ticks;
    }
}
