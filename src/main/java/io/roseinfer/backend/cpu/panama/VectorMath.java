package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.FloatMath;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/** {@link FloatMath} on vectors of any width, operation by operation. Methods are small, so that they are always inlined. */
final class VectorMath {
    private VectorMath() {}

    static FloatVector exp(FloatVector argument) {
        FloatVector x = argument.max(FloatMath.EXP_LOWEST).min(FloatMath.EXP_HIGHEST);
        FloatVector shifted = x.fma(x.broadcast(FloatMath.LOG2_E), x.broadcast(FloatMath.ROUNDER));
        FloatVector n = shifted.sub(FloatMath.ROUNDER);
        FloatVector r = n.fma(x.broadcast(-FloatMath.LN2_HIGH), x);
        r = n.fma(x.broadcast(-FloatMath.LN2_LOW), r);
        FloatVector p = x.broadcast(FloatMath.E0);
        p = horner(p, r, FloatMath.E1);
        p = horner(p, r, FloatMath.E2);
        p = horner(p, r, FloatMath.E3);
        p = horner(p, r, FloatMath.E4);
        p = horner(p, r, FloatMath.E5);
        p = p.fma(r.mul(r), r).add(1f);
        return p.reinterpretAsInts()
                .add(shifted.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23))
                .reinterpretAsFloats();
    }

    static FloatVector geluTanh(FloatVector x) {
        FloatVector twice = x.mul(x.mul(x).fma(x.broadcast(FloatMath.GELU_CUBIC), x.broadcast(FloatMath.GELU_LINEAR)));
        return x.div(exp(twice.neg()).add(1f));
    }

    static FloatVector silu(FloatVector x) {
        return x.div(exp(x.neg()).add(1f));
    }

    static FloatVector geluErf(FloatVector x) {
        FloatVector z = x.abs().mul(FloatMath.SQRT_HALF);
        FloatVector t = x.broadcast(1f).div(z.fma(x.broadcast(0.5f), x.broadcast(1f)));
        FloatVector p = horner(x.broadcast(FloatMath.T9), t, FloatMath.T8);
        p = horner(p, t, FloatMath.T7);
        p = horner(p, t, FloatMath.T6);
        p = horner(p, t, FloatMath.T5);
        p = horner(p, t, FloatMath.T4);
        p = horner(p, t, FloatMath.T3);
        p = horner(p, t, FloatMath.T2);
        p = horner(p, t, FloatMath.T1);
        p = horner(p, t, FloatMath.T0);
        FloatVector tail = t.mul(exp(z.neg().fma(z, p))).mul(0.5f);
        VectorMask<Float> positive = x.compare(VectorOperators.GE, 0f);
        return x.mul(tail.blend(tail.neg().add(1f), positive));
    }

    private static FloatVector horner(FloatVector p, FloatVector x, float coefficient) {
        return p.fma(x, x.broadcast(coefficient));
    }
}
