package io.roseinfer.backend.cpu;

import io.roseinfer.model.Activation;

/** Activation functions in 64-bit floats, from their definitions. */
public final class DoubleMath {
    private DoubleMath() {}

    public static double activate(Activation activation, double x) {
        return switch (activation) {
            case GELU_TANH -> geluTanh(x);
            case GELU_ERF -> geluErf(x);
            case RELU -> Math.max(0, x);
            case SILU -> silu(x);
        };
    }

    public static double geluTanh(double x) {
        return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
    }

    public static double geluErf(double x) {
        return x * normalDistribution(x);
    }

    public static double silu(double x) {
        return x / (1 + Math.exp(-x));
    }

    /** Φ(x) by the series Φ = 1/2 + φ(x)·(x + x³/3 + x⁵/15 + …), which converges everywhere. */
    private static double normalDistribution(double x) {
        double term = x;
        double sum = x;
        for (int n = 3; n < 400; n += 2) {
            term *= x * x / n;
            sum += term;
        }
        return 0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
    }
}
