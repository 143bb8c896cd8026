package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.FloatMath;
import io.roseinfer.backend.cpu.kernel.Lanes;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.model.Activation;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

final class VectorRows implements RowMath {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());

    private final float[] lanes = new float[Lanes.COUNT];

    VectorRows(int contextLength) {}

    @Override
    public void layerNorm(float[] x, int from, float[] gain, float[] bias, float epsilon, float[] output) {
        int width = gain.length;
        float mean = sum(x, from, width) / width;
        float inverse = 1f / (float) Math.sqrt(sumOfSquares(x, from, width, mean) / width + epsilon);
        int whole = F.loopBound(width);
        for (int i = 0; i < whole; i += F.length()) {
            FloatVector normed = FloatVector.fromArray(F, x, from + i).sub(mean).mul(inverse);
            normed.fma(FloatVector.fromArray(F, gain, i), FloatVector.fromArray(F, bias, i))
                    .intoArray(output, i);
        }
        for (int i = whole; i < width; i++) {
            output[i] = Math.fma((x[from + i] - mean) * inverse, gain[i], bias[i]);
        }
    }

    private float sum(float[] x, int from, int count) {
        int whole = count - count % Lanes.COUNT;
        for (int lane = 0; lane < Lanes.COUNT; lane += F.length()) {
            FloatVector sums = FloatVector.zero(F);
            for (int i = 0; i < whole; i += Lanes.COUNT) {
                sums = FloatVector.fromArray(F, x, from + lane + i).add(sums);
            }
            sums.intoArray(lanes, lane);
        }
        for (int i = whole; i < count; i++) {
            lanes[i - whole] += x[from + i];
        }
        return Lanes.sum(lanes);
    }

    private float sumOfSquares(float[] x, int from, int count, float mean) {
        int whole = count - count % Lanes.COUNT;
        for (int lane = 0; lane < Lanes.COUNT; lane += F.length()) {
            FloatVector sums = FloatVector.zero(F);
            for (int i = 0; i < whole; i += Lanes.COUNT) {
                FloatVector distance =
                        FloatVector.fromArray(F, x, from + lane + i).sub(mean);
                sums = distance.fma(distance, sums);
            }
            sums.intoArray(lanes, lane);
        }
        for (int i = whole; i < count; i++) {
            float distance = x[from + i] - mean;
            lanes[i - whole] = Math.fma(distance, distance, lanes[i - whole]);
        }
        return Lanes.sum(lanes);
    }

    @Override
    public void activate(Activation activation, float[] values, int count) {
        switch (activation) {
            case GELU_TANH -> geluTanh(values, count);
            case GELU_ERF -> geluErf(values, count);
            case RELU -> relu(values, count);
        }
    }

    private static void geluTanh(float[] values, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            VectorMath.geluTanh(FloatVector.fromArray(F, values, i)).intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] = FloatMath.geluTanh(values[i]);
        }
    }

    private static void geluErf(float[] values, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            VectorMath.geluErf(FloatVector.fromArray(F, values, i)).intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] = FloatMath.geluErf(values[i]);
        }
    }

    private static void relu(float[] values, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            FloatVector.fromArray(F, values, i).max(0f).intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] = Math.max(0f, values[i]);
        }
    }
}
