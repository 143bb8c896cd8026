package io.roseinfer.bench.replay;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.ModelSpec;
import java.util.Locale;

/**
 * Step costs computed from a model's shape and a device's peak rates, without a measurement. Each operation takes the longer of moving its
 * bytes and computing its products (Williams et al., "Roofline", CACM 2009), at a share of the peak rates:
 *
 * <pre>
 * op(bytes, flops)  max(bytes / (B · bandwidth), flops / (C · rate))
 * matrix i × o      op(weight bytes · i · o, 2 · i · o · tokens)
 * attention         op(2 · 2 · KV width · attended by decode rows, 4 · query width · attended)
 * step              STEP + layers · (LAYER + qkv + attention + output + up + down) + head(rows and drafts)
 * </pre>
 *
 * <p>A prompt's queries share reads of keys and values, so its attention only computes. A step's shape has only the sum of attended
 * positions, so in a mixed step every token counts with the mean. Activations, norms and sampling are part of LAYER and STEP. Windows of
 * attention are not modeled. KV elements have two bytes.
 *
 * <p>The shares and constants minimize the mean deviation from the recorded costs of four shapes on an H100.
 *
 * @param model the model's shape
 * @param device peak rates
 * @param weightBytes bytes per weight, 2 for bf16
 */
public record Roofline(ModelSpec model, DeviceRates device, int weightBytes) implements CostModel {
    /** The share of the peak bandwidth that matrices and attention reach. */
    private static final double BANDWIDTH_SHARE = 0.85;

    /** The share of the peak rate that matrix products reach. */
    private static final double RATE_SHARE = 0.5;

    /** Nanoseconds per layer for launches, norms and barriers of a layer's kernels. */
    private static final double LAYER_NANOS = 7_000;

    /** Nanoseconds per step for planning, packing, sampling and applying. */
    private static final double STEP_NANOS = 20_000;

    private static final int KV_ELEMENT_BYTES = 2;
    private static final int BLOCK = 16;

    private static final double GIGA = 1e9;

    /** The share of the memory for weights and KV pool. */
    private static final double MEMORY_SHARE = 0.9;

    @Override
    public double nanos(StepShape shape) {
        Attention attention = model.attention();
        int width = model.width();
        int tokens = shape.tokens();
        double layer = LAYER_NANOS
                + matrix(width, attention.qkvWidth(), tokens)
                + attention(attention, shape)
                + matrix(attention.queryWidth(), width, tokens)
                + matrix(width, model.mlp().outputs(), tokens)
                + matrix(model.mlp().inner(), width, tokens);
        return STEP_NANOS + model.layers() * layer + matrix(width, model.vocabularySize(), shape.samples());
    }

    private double matrix(int inputs, int outputs, int tokens) {
        double weights = (double) inputs * outputs;
        return operation(weightBytes * weights, 2 * weights * tokens);
    }

    private double attention(Attention attention, StepShape shape) {
        double decodeShare = 1 - (double) shape.prefillTokens() / shape.tokens();
        return operation(
                2.0 * KV_ELEMENT_BYTES * attention.kvWidth() * decodeShare * shape.attended(),
                4.0 * attention.queryWidth() * shape.attended());
    }

    private double operation(double bytes, double flops) {
        return Math.max(
                bytes / (BANDWIDTH_SHARE * device.bytesPerNano()), flops / (RATE_SHARE * device.flopsPerNano()));
    }

    /** Returns the bytes of a token's keys and values in all layers, with elements of two bytes. */
    static long kvTokenBytes(ModelSpec model) {
        return 2L * KV_ELEMENT_BYTES * model.layers() * model.attention().kvWidth();
    }

    /**
     * Returns the blocks of 16 tokens that fit in memory in addition to the weights.
     *
     * @throws BadInput if not one does
     */
    int kvBlocks() {
        Attention attention = model.attention();
        double perLayer = (double) model.width() * attention.qkvWidth()
                + (double) attention.queryWidth() * model.width()
                + (double) model.width() * (model.mlp().outputs() + model.mlp().inner());
        double tables = (model.tiedHead() ? 1.0 : 2.0) * model.vocabularySize() * model.width();
        double weights = weightBytes * (model.layers() * perLayer + tables);
        double block = (double) BLOCK * kvTokenBytes(model);
        double memory = MEMORY_SHARE * device.bytes();
        if (memory < weights + block) {
            throw new BadInput(String.format(
                    Locale.ROOT,
                    "the weights of %s take %.1f GB, but %s has %.1f GB for them and the KV pool; choose a larger device%s",
                    model.name(),
                    weights / GIGA,
                    device.name(),
                    memory / GIGA,
                    weightBytes > 1 ? ", or int8 weights" : ""));
        }
        return (int) ((memory - weights) / block);
    }

    /**
     * Returns these costs for a simulation.
     *
     * @throws BadInput if the model does not fit on the device
     */
    public StepCosts costs() {
        return StepCosts.of(
                "roofline of " + device.name() + " for " + model.name() + ", not measured", this, kvBlocks());
    }
}
