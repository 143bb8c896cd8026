package io.roseinfer.backend.cpu.kernel;

/**
 * The functions of a forward pass in 32-bit floats, as fixed sequences of IEEE operations that the vector kernels repeat operation by
 * operation, so that both are bit-identical.
 */
@SuppressWarnings("FloatingPointLiteralPrecision") // coefficients as published
public final class FloatMath {
    /** Arguments of {@link #exp} are clamped to this range, where the result is a normal number. */
    public static final float EXP_LOWEST = -86f;

    public static final float EXP_HIGHEST = 88f;
    public static final float LOG2_E = 1.44269504f;
    /** 1.5 · 2²³: adding it rounds a small float to an integer, left in the low bits of the sum. */
    public static final float ROUNDER = 12582912f;

    /** ln 2 in two parts, the first with so few bits that its product with an exponent is exact (Cody and Waite). */
    public static final float LN2_HIGH = 0.693359375f;

    public static final float LN2_LOW = -2.12194440e-4f;

    /** Cephes' expf: eʳ ≈ 1 + r + r²·(E0·r⁵ + … + E5) for |r| ≤ ln 2 / 2. */
    public static final float E0 = 1.9875691500e-4f;

    public static final float E1 = 1.3981999507e-3f;
    public static final float E2 = 8.3334519073e-3f;
    public static final float E3 = 4.1665795894e-2f;
    public static final float E4 = 1.6666665459e-1f;
    public static final float E5 = 5.0000001201e-1f;

    /** 2·√(2/π), and the same times 0.044715. */
    public static final float GELU_LINEAR = 1.5957691216f;

    public static final float GELU_CUBIC = 0.0713548162726f;
    public static final float SQRT_HALF = 0.70710678f;

    /** erfc(z) ≈ t·exp(-z² + T0 + t·(T1 + …)), t = 1/(1 + z/2), z ≥ 0 (Numerical Recipes, erfcc: relative error 1.2e-7). */
    public static final float T0 = -1.26551223f;

    public static final float T1 = 1.00002368f;
    public static final float T2 = 0.37409196f;
    public static final float T3 = 0.09678418f;
    public static final float T4 = -0.18628806f;
    public static final float T5 = 0.27886807f;
    public static final float T6 = -1.13520398f;
    public static final float T7 = 1.48851587f;
    public static final float T8 = -0.82215223f;
    public static final float T9 = 0.17087277f;

    private FloatMath() {}

    /** eˣ for x clamped to [{@value #EXP_LOWEST}, {@value #EXP_HIGHEST}]; NaN stays NaN. */
    public static float exp(float argument) {
        float x = Math.min(Math.max(argument, EXP_LOWEST), EXP_HIGHEST);
        float shifted = Math.fma(x, LOG2_E, ROUNDER);
        float n = shifted - ROUNDER;
        float r = Math.fma(n, -LN2_LOW, Math.fma(n, -LN2_HIGH, x));
        float p = Math.fma(E0, r, E1);
        p = Math.fma(p, r, E2);
        p = Math.fma(p, r, E3);
        p = Math.fma(p, r, E4);
        p = Math.fma(p, r, E5);
        p = Math.fma(p, r * r, r) + 1f;
        return Float.intBitsToFloat(Float.floatToRawIntBits(p) + (Float.floatToRawIntBits(shifted) << 23));
    }

    /** 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), written as x / (1 + exp(-2·…)). */
    public static float geluTanh(float x) {
        float twice = x * Math.fma(x * x, GELU_CUBIC, GELU_LINEAR);
        return x / (1f + exp(-twice));
    }

    /** x / (1 + exp(-x)). */
    public static float silu(float x) {
        return x / (1f + exp(-x));
    }

    /** x·Φ(x). */
    public static float geluErf(float x) {
        float z = Math.abs(x) * SQRT_HALF;
        float t = 1f / Math.fma(z, 0.5f, 1f);
        float p = Math.fma(T9, t, T8);
        p = Math.fma(p, t, T7);
        p = Math.fma(p, t, T6);
        p = Math.fma(p, t, T5);
        p = Math.fma(p, t, T4);
        p = Math.fma(p, t, T3);
        p = Math.fma(p, t, T2);
        p = Math.fma(p, t, T1);
        p = Math.fma(p, t, T0);
        float tail = 0.5f * (t * exp(Math.fma(-z, z, p)));
        return x * (x >= 0f ? 1f - tail : tail);
    }
}
