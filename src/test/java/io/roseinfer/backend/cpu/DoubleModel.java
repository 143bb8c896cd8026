package io.roseinfer.backend.cpu;

import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.BlockSpec.Residual;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Positions.Scaling;
import io.roseinfer.model.RopeTable;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Reference transformer in 64-bit floats, one sequence at a time, without a KV cache. Supports every family except soft caps; scaled RoPE
 * comes from the table.
 */
final class DoubleModel {
    private final ModelSpec spec;
    private final Weights weights;
    /** Cached matrices, [outputs, inputs]. */
    private final Map<Matrix, float[]> read = new HashMap<>();
    /** Tables of scaled RoPE. */
    private final Map<Rope, float[]> tables = new HashMap<>();

    DoubleModel(ModelSpec spec, Weights weights) {
        this.spec = spec;
        this.weights = weights;
    }

    /** Returns the logits after the last token. */
    double[] logits(int[] tokens) {
        double[][] x = new double[tokens.length][spec.width()];
        for (int t = 0; t < tokens.length; t++) {
            addRow(x[t], weights.embedding(), tokens[t]);
            if (weights.positions().isPresent()) {
                addRow(x[t], weights.positions().get(), t);
            }
        }
        for (int layer = 0; layer < spec.layers(); layer++) {
            BlockSpec block = spec.block(layer);
            Weights.Block of = weights.blocks().get(layer);
            double[][] attended = attention(x, block, of);
            double[][] between = block.residual() == Residual.PARALLEL ? x : sum(x, attended);
            x = sum(sum(x, attended), mlp(between, block, of));
        }
        return linear(norm(x[tokens.length - 1], weights.norm(), spec.head().norm()), weights.head());
    }

    /** Returns the log-probabilities. */
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

    /** Returns what attention adds to the residual stream. */
    private double[][] attention(double[][] x, BlockSpec block, Weights.Block of) {
        Attention shape = block.attention();
        int size = shape.headSize();
        double[][] qkv = new double[x.length][];
        for (int t = 0; t < x.length; t++) {
            qkv[t] = linear(norm(x[t], of.attentionNorm(), block.norm()), of.qkv());
            if (of.qkNorms().isPresent()) {
                normalizeHeads(qkv[t], shape, of.qkNorms().get(), block.norm());
            }
            if (block.positions() instanceof Rope rope) {
                for (int head = 0; head < shape.heads() + shape.kvHeads(); head++) {
                    rotate(qkv[t], head * size, rope.rotarySize() / 2, cosSin(rope, t));
                }
            }
        }
        double[][] added = new double[x.length][];
        for (int t = 0; t < x.length; t++) {
            double[] joined = new double[shape.queryWidth()];
            for (int head = 0; head < shape.heads(); head++) {
                int key = shape.queryWidth() + head / (shape.heads() / shape.kvHeads()) * size;
                double[][] seen = Arrays.copyOfRange(qkv, Math.max(0, t + 1 - shape.window()), t + 1);
                attend(seen, head * size, key, shape, joined);
            }
            added[t] = linear(joined, of.output());
        }
        return added;
    }

    private static void normalizeHeads(double[] row, Attention shape, Weights.QkNorms norms, BlockSpec.Norm norm) {
        for (int head = 0; head < shape.heads() + shape.kvHeads(); head++) {
            int from = head * shape.headSize();
            double[] values = Arrays.copyOfRange(row, from, from + shape.headSize());
            double[] normed = norm(values, head < shape.heads() ? norms.queries() : norms.keys(), norm);
            System.arraycopy(normed, 0, row, from, normed.length);
        }
    }

    /** Computes attention of the last row's query at {@code query} over keys at {@code key}, into {@code joined}. */
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

    /** Returns cosines, then sines, of a position; scaled RoPE comes from the table, which a separate golden tests. */
    private double[] cosSin(Rope rope, int position) {
        double[] cosSin = new double[rope.rotarySize()];
        if (!(rope.scaling() instanceof Scaling.None)) {
            float[] table = tables.computeIfAbsent(rope, each -> RopeTable.rows(each, 0, spec.contextLength()));
            Arrays.setAll(cosSin, i -> table[position * cosSin.length + i]);
            return cosSin;
        }
        for (int i = 0; i < cosSin.length / 2; i++) {
            double angle = position * Math.pow(rope.theta(), -2.0 * i / rope.rotarySize());
            cosSin[i] = Math.cos(angle);
            cosSin[cosSin.length / 2 + i] = Math.sin(angle);
        }
        return cosSin;
    }

    private static void rotate(double[] row, int from, int half, double[] cosSin) {
        for (int i = 0; i < half; i++) {
            double low = row[from + i];
            double high = row[from + half + i];
            row[from + i] = low * cosSin[i] - high * cosSin[half + i];
            row[from + half + i] = high * cosSin[i] + low * cosSin[half + i];
        }
    }

    /** Returns what the MLP adds to the residual stream. */
    private double[][] mlp(double[][] x, BlockSpec block, Weights.Block of) {
        int inner = block.mlp().inner();
        double[][] added = new double[x.length][];
        for (int t = 0; t < x.length; t++) {
            double[] up = linear(norm(x[t], of.mlpNorm(), block.norm()), of.inner());
            double[] activated = new double[inner];
            for (int i = 0; i < inner; i++) {
                activated[i] = DoubleMath.activate(block.mlp().activation(), up[i]);
                activated[i] *= block.mlp().gated() ? up[inner + i] : 1;
            }
            added[t] = linear(activated, of.down());
        }
        return added;
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
        float[] normWeights = norm.weight().read();
        double[] y = new double[x.length];
        for (int i = 0; i < y.length; i++) {
            y[i] = (x[i] - mean) / Math.sqrt(variance + shape.epsilon()) * normWeights[i];
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

    private static double[][] sum(double[][] x, double[][] y) {
        double[][] sum = new double[x.length][x[0].length];
        for (int t = 0; t < x.length; t++) {
            for (int i = 0; i < sum[t].length; i++) {
                sum[t][i] = x[t][i] + y[t][i];
            }
        }
        return sum;
    }
}
