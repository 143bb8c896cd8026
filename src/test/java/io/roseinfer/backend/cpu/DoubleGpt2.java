package io.roseinfer.backend.cpu;

import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.WeightSlot;

/** GPT-2 from its equations in 64-bit floats, one whole sequence at a time, without a cache: what the backend is held against. */
final class DoubleGpt2 {
    private final TestModel model;
    private final ModelSpec spec;

    DoubleGpt2(TestModel model) {
        this.model = model;
        this.spec = model.spec;
    }

    /** Logits that follow the last token. */
    double[] logits(int[] tokens) {
        int width = spec.width();
        float[] embedding = model.tensor(WeightSlot.TOKEN_EMBEDDING, 0);
        float[] positions = model.tensor(WeightSlot.POSITION_EMBEDDING, 0);
        double[][] x = new double[tokens.length][width];
        for (int t = 0; t < tokens.length; t++) {
            for (int i = 0; i < width; i++) {
                x[t][i] = (double) embedding[tokens[t] * width + i] + positions[t * width + i];
            }
        }
        for (int layer = 0; layer < spec.layers(); layer++) {
            attention(x, layer);
            mlp(x, layer);
        }
        double[] last = norm(
                x[tokens.length - 1],
                model.tensor(WeightSlot.FINAL_NORM_GAIN, 0),
                model.tensor(WeightSlot.FINAL_NORM_BIAS, 0));
        float[] head = spec.tiedHead() ? embedding : model.tensor(WeightSlot.HEAD, 0);
        double[] logits = new double[spec.vocabularySize()];
        for (int v = 0; v < logits.length; v++) {
            for (int i = 0; i < width; i++) {
                logits[v] += last[i] * head[v * width + i];
            }
        }
        return logits;
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

    private void attention(double[][] x, int layer) {
        int width = spec.width();
        int size = spec.headSize();
        double scale = 1 / Math.sqrt(size) / (spec.scaleAttentionByLayer() ? layer + 1 : 1);
        double[][] qkv = new double[x.length][];
        for (int t = 0; t < x.length; t++) {
            double[] normed = norm(
                    x[t],
                    model.tensor(WeightSlot.ATTENTION_NORM_GAIN, layer),
                    model.tensor(WeightSlot.ATTENTION_NORM_BIAS, layer));
            qkv[t] = linear(normed, WeightSlot.QKV, WeightSlot.QKV_BIAS, layer);
        }
        for (int t = 0; t < x.length; t++) {
            double[] joined = new double[width];
            for (int head = 0; head < spec.heads(); head++) {
                double[] weight = new double[t + 1];
                double sum = 0;
                for (int s = 0; s <= t; s++) {
                    for (int d = head * size; d < (head + 1) * size; d++) {
                        weight[s] += qkv[t][d] * qkv[s][width + d];
                    }
                    weight[s] = Math.exp(weight[s] * scale);
                    sum += weight[s];
                }
                for (int s = 0; s <= t; s++) {
                    for (int d = head * size; d < (head + 1) * size; d++) {
                        joined[d] += weight[s] / sum * qkv[s][2 * width + d];
                    }
                }
            }
            add(x[t], linear(joined, WeightSlot.ATTENTION_OUTPUT, WeightSlot.ATTENTION_OUTPUT_BIAS, layer));
        }
    }

    private void mlp(double[][] x, int layer) {
        for (double[] row : x) {
            double[] normed = norm(
                    row, model.tensor(WeightSlot.MLP_NORM_GAIN, layer), model.tensor(WeightSlot.MLP_NORM_BIAS, layer));
            double[] inner = linear(normed, WeightSlot.MLP_INNER, WeightSlot.MLP_INNER_BIAS, layer);
            for (int i = 0; i < inner.length; i++) {
                inner[i] = switch (spec.activation()) {
                    case GELU_TANH -> DoubleMath.geluTanh(inner[i]);
                    case GELU_ERF -> DoubleMath.geluErf(inner[i]);
                    case RELU -> Math.max(0, inner[i]);
                };
            }
            add(row, linear(inner, WeightSlot.MLP_OUTPUT, WeightSlot.MLP_OUTPUT_BIAS, layer));
        }
    }

    private double[] linear(double[] x, WeightSlot matrix, WeightSlot bias, int layer) {
        float[] w = model.tensor(matrix, layer);
        float[] b = model.tensor(bias, layer);
        double[] y = new double[b.length];
        for (int n = 0; n < y.length; n++) {
            y[n] = b[n];
            for (int k = 0; k < x.length; k++) {
                y[n] += x[k] * w[k * y.length + n];
            }
        }
        return y;
    }

    private double[] norm(double[] x, float[] gain, float[] bias) {
        double mean = 0;
        for (double value : x) {
            mean += value / x.length;
        }
        double variance = 0;
        for (double value : x) {
            variance += (value - mean) * (value - mean) / x.length;
        }
        double[] y = new double[x.length];
        for (int i = 0; i < y.length; i++) {
            y[i] = (x[i] - mean) / Math.sqrt(variance + spec.layerNormEpsilon()) * gain[i] + bias[i];
        }
        return y;
    }

    private static void add(double[] x, double[] y) {
        for (int i = 0; i < x.length; i++) {
            x[i] += y[i];
        }
    }
}
