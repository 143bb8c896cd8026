package io.roseinfer.backend.cpu;

import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A transformer from its equations in 64-bit floats, one whole sequence at a time, without a cache: what the backend is held
 * against. It reads a spec and weights of any family, but knows no windows, caps or scaled rotary positions.
 */
final class DoubleModel {
    private final ModelSpec spec;
    private final Weights weights;
    /** Matrices read so far, [outputs, inputs]. */
    private final Map<Matrix, float[]> read = new HashMap<>();

    DoubleModel(ModelSpec spec, Weights weights) {
        this.spec = spec;
        this.weights = weights;
    }

    /** Logits that follow the last token. */
    double[] logits(int[] tokens) {
        double[][] x = new double[tokens.length][spec.width()];
        for (int t = 0; t < tokens.length; t++) {
            addRow(x[t], weights.embedding(), tokens[t]);
            if (weights.positions().isPresent()) {
                addRow(x[t], weights.positions().get(), t);
            }
        }
        for (int layer = 0; layer < spec.layers(); layer++) {
            attention(x, spec.block(layer), weights.blocks().get(layer));
            mlp(x, spec.block(layer), weights.blocks().get(layer));
        }
        return linear(norm(x[tokens.length - 1], weights.norm(), spec.head().norm()), weights.head());
    }

    /** Natural logarithms of the probabilities. */
    static double[] logSoftmax(double[] logits) {
        double sum = 0;
        for (double logit : logits) {
            sum += Math.exp(logit);
        }
        double[] result = new double[logits.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = logits[i] - Math.log(sum);
        }
        return result;
    }

    private float[] values(Matrix matrix) {
        return read.computeIfAbsent(matrix, unread -> {
            float[] values = new float[unread.outputs() * unread.inputs()];
            try (Arena arena = Arena.ofConfined()) {
                unread.open(arena).copyRows(values);
            }
            return values;
        });
    }

    private void addRow(double[] x, Matrix table, int row) {
        float[] values = values(table);
        for (int i = 0; i < x.length; i++) {
            x[i] += values[row * x.length + i];
        }
    }

    private void attention(double[][] x, BlockSpec block, Weights.Block of) {
        Attention shape = block.attention();
        int size = shape.headSize();
        double[][] qkv = new double[x.length][];
        for (int t = 0; t < x.length; t++) {
            qkv[t] = linear(norm(x[t], of.attentionNorm(), block.norm()), of.qkv());
            if (of.headNorms().isPresent()) {
                normalizeHeads(qkv[t], shape, of.headNorms().get(), block.norm());
            }
            if (block.positions() instanceof Rope rope) {
                for (int head = 0; head < shape.heads() + shape.kvHeads(); head++) {
                    rotate(qkv[t], head * size, rope, t);
                }
            }
        }
        for (int t = 0; t < x.length; t++) {
            double[] joined = new double[shape.queryWidth()];
            for (int head = 0; head < shape.heads(); head++) {
                int key = shape.queryWidth() + head / (shape.heads() / shape.kvHeads()) * size;
                attend(Arrays.copyOf(qkv, t + 1), head * size, key, shape, joined);
            }
            add(x[t], linear(joined, of.output()));
        }
    }

    private static void normalizeHeads(double[] row, Attention shape, Weights.HeadNorms norms, BlockSpec.Norm norm) {
        for (int head = 0; head < shape.heads() + shape.kvHeads(); head++) {
            int from = head * shape.headSize();
            double[] values = Arrays.copyOfRange(row, from, from + shape.headSize());
            double[] normed = norm(values, head < shape.heads() ? norms.queries() : norms.keys(), norm);
            System.arraycopy(normed, 0, row, from, normed.length);
        }
    }

    /** What the query of the last row, from {@code query} on, sees of keys from {@code key} on; to {@code joined}. */
    private static void attend(double[][] qkv, int query, int key, Attention shape, double[] joined) {
        double[] weight = new double[qkv.length];
        double sum = 0;
        for (int s = 0; s < qkv.length; s++) {
            for (int d = 0; d < shape.headSize(); d++) {
                weight[s] += qkv[qkv.length - 1][query + d] * qkv[s][key + d];
            }
            weight[s] = Math.exp(weight[s] * shape.scale());
            sum += weight[s];
        }
        for (int s = 0; s < qkv.length; s++) {
            for (int d = 0; d < shape.headSize(); d++) {
                joined[query + d] += weight[s] / sum * qkv[s][key + shape.kvWidth() + d];
            }
        }
    }

    private static void rotate(double[] row, int from, Rope rope, int position) {
        int half = rope.rotarySize() / 2;
        for (int i = 0; i < half; i++) {
            double angle = position * Math.pow(rope.theta(), -2.0 * i / rope.rotarySize());
            double low = row[from + i];
            double high = row[from + half + i];
            row[from + i] = low * Math.cos(angle) - high * Math.sin(angle);
            row[from + half + i] = high * Math.cos(angle) + low * Math.sin(angle);
        }
    }

    private void mlp(double[][] x, BlockSpec block, Weights.Block of) {
        int inner = block.mlp().inner();
        for (double[] row : x) {
            double[] up = linear(norm(row, of.mlpNorm(), block.norm()), of.inner());
            double[] activated = new double[inner];
            for (int i = 0; i < inner; i++) {
                activated[i] = switch (block.mlp().activation()) {
                    case GELU_TANH -> DoubleMath.geluTanh(up[i]);
                    case GELU_ERF -> DoubleMath.geluErf(up[i]);
                    case RELU -> Math.max(0, up[i]);
                    case SILU -> DoubleMath.silu(up[i]);
                };
                activated[i] *= block.mlp().gated() ? up[inner + i] : 1;
            }
            add(row, linear(activated, of.down()));
        }
    }

    private double[] linear(double[] x, Matrix matrix) {
        float[] w = values(matrix);
        double[] y = new double[matrix.outputs()];
        for (int n = 0; n < y.length; n++) {
            for (int k = 0; k < x.length; k++) {
                y[n] += x[k] * w[n * x.length + k];
            }
        }
        addBias(y, matrix.bias());
        return y;
    }

    private static double[] norm(double[] x, Weights.Norm norm, BlockSpec.Norm shape) {
        double mean = shape.kind() == Kind.LAYER ? Arrays.stream(x).average().orElseThrow() : 0;
        double variance = 0;
        for (double value : x) {
            variance += (value - mean) * (value - mean) / x.length;
        }
        float[] gain = norm.gain().read();
        double[] y = new double[x.length];
        for (int i = 0; i < y.length; i++) {
            y[i] = (x[i] - mean) / Math.sqrt(variance + shape.epsilon()) * gain[i];
        }
        addBias(y, norm.bias());
        return y;
    }

    private static void addBias(double[] y, Optional<Vector> bias) {
        if (bias.isPresent()) {
            float[] values = bias.get().read();
            for (int i = 0; i < y.length; i++) {
                y[i] += values[i];
            }
        }
    }

    private static void add(double[] x, double[] y) {
        for (int i = 0; i < x.length; i++) {
            x[i] += y[i];
        }
    }
}
