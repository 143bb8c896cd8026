package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.ModelWeights.Layer;
import io.roseinfer.backend.cpu.ModelWeights.Linear;
import io.roseinfer.backend.cpu.ModelWeights.Norm;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.Gpt2Weights;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.WeightSlot;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a checkpoint into {@link ModelWeights}, one tensor at a time, so that a checkpoint and its packed form never stand in
 * memory together. The whole team packs each matrix.
 */
final class WeightLoader {
    private final Gpt2Weights weights;
    private final WeightFormat format;
    private final SegmentAllocator target;
    private final WorkerTeam team;
    private final float[][] panelBuffers;

    /** Loads into memory of {@code target} that all workers may write. */
    WeightLoader(Gpt2Weights weights, WeightFormat format, SegmentAllocator target, WorkerTeam team) {
        this.weights = weights;
        this.format = format;
        this.target = target;
        this.team = team;
        ModelSpec spec = weights.spec();
        this.panelBuffers = new float[team.size()][Math.max(spec.width(), spec.innerWidth()) * PackedMatrix.COLUMNS];
    }

    ModelWeights load() {
        try {
            PackedMatrix embedding = matrix(WeightSlot.TOKEN_EMBEDDING, 0);
            PackedMatrix head = weights.spec().tiedHead() ? embedding : matrix(WeightSlot.HEAD, 0);
            List<Layer> layers = new ArrayList<>();
            for (int layer = 0; layer < weights.spec().layers(); layer++) {
                layers.add(layer(layer));
            }
            float[] positions = vector(WeightSlot.POSITION_EMBEDDING, 0);
            Norm finalNorm = norm(WeightSlot.FINAL_NORM_GAIN, WeightSlot.FINAL_NORM_BIAS, 0);
            return new ModelWeights(embedding, positions, layers, finalNorm, head);
        } catch (InternalError e) {
            // How the JVM reports a page of a mapped file that can no longer be read.
            throw new BadModel(
                    weights.description()
                            + ": a weight file was truncated or replaced while it was read; load it again",
                    e);
        }
    }

    private Layer layer(int layer) {
        return new Layer(
                norm(WeightSlot.ATTENTION_NORM_GAIN, WeightSlot.ATTENTION_NORM_BIAS, layer),
                linear(WeightSlot.QKV, WeightSlot.QKV_BIAS, layer),
                linear(WeightSlot.ATTENTION_OUTPUT, WeightSlot.ATTENTION_OUTPUT_BIAS, layer),
                norm(WeightSlot.MLP_NORM_GAIN, WeightSlot.MLP_NORM_BIAS, layer),
                linear(WeightSlot.MLP_INNER, WeightSlot.MLP_INNER_BIAS, layer),
                linear(WeightSlot.MLP_OUTPUT, WeightSlot.MLP_OUTPUT_BIAS, layer));
    }

    private Norm norm(WeightSlot gain, WeightSlot bias, int layer) {
        return new Norm(vector(gain, layer), vector(bias, layer));
    }

    private Linear linear(WeightSlot matrix, WeightSlot bias, int layer) {
        return new Linear(matrix(matrix, layer), vector(bias, layer));
    }

    private float[] vector(WeightSlot slot, int layer) {
        try (Arena reading = Arena.ofConfined()) {
            Tensor tensor = weights.read(slot, layer, reading);
            float[] values = new float[Math.toIntExact(tensor.elements())];
            tensor.copyTo(0, values, 0, values.length);
            return values;
        }
    }

    private PackedMatrix matrix(WeightSlot slot, int layer) {
        try (Arena reading = Arena.ofShared()) {
            Tensor tensor = weights.read(slot, layer, reading);
            boolean byOutput = slot == WeightSlot.TOKEN_EMBEDDING || slot == WeightSlot.HEAD;
            int outputs = Math.toIntExact(tensor.dimension(byOutput ? 0 : 1));
            int inputs = Math.toIntExact(tensor.dimension(byOutput ? 1 : 0));
            WeightFormat own = byOutput ? format.ofHead() : format;
            MemorySegment memory = target.allocate(PackedMatrix.bytes(own, inputs, outputs), 64);
            int scales = own == WeightFormat.INT8 ? PackedMatrix.panels(outputs) * PackedMatrix.COLUMNS : 0;
            PackedMatrix packed = new PackedMatrix(own, inputs, outputs, memory, new float[scales]);
            PanelPacker packer = new PanelPacker(tensor, byOutput, packed);
            team.run(worker -> {
                int end = team.share(packed.panels(), worker + 1);
                for (int panel = team.share(packed.panels(), worker); panel < end; panel++) {
                    packer.pack(panel, panelBuffers[worker]);
                }
            });
            return packed;
        }
    }
}
