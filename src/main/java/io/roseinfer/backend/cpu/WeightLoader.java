package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.ModelWeights.Heads;
import io.roseinfer.backend.cpu.ModelWeights.Layer;
import io.roseinfer.backend.cpu.ModelWeights.Linear;
import io.roseinfer.backend.cpu.ModelWeights.Norm;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.RopeTable;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Loads a checkpoint into {@link ModelWeights}, one matrix at a time, so that checkpoint and packed weights are never in memory
 * together. The whole team packs each matrix.
 */
final class WeightLoader {
    private static final float[] NONE = {};

    private final ModelSpec spec;
    private final Weights weights;
    private final WeightFormat format;
    private final SegmentAllocator target;
    private final WorkerTeam team;
    private final PackingBuffer[] buffers;
    /** Equal blocks share a RoPE table. */
    private final Map<Rope, RopeTable> tables = new HashMap<>();

    /** Creates a loader into {@code target}, which all workers may write. */
    WeightLoader(ModelSpec spec, Weights weights, WeightFormat format, SegmentAllocator target, WorkerTeam team) {
        this.spec = spec;
        this.weights = weights;
        this.format = format;
        this.target = target;
        this.team = team;
        this.buffers = new PackingBuffer[team.size()];
        Arrays.setAll(buffers, worker -> new PackingBuffer(Scratch.maxInputs(spec)));
    }

    /** Returns the bytes of the workers' packing buffers, freed after loading. */
    static long bufferBytes(ModelSpec spec, int threads) {
        return threads * PackingBuffer.bytes(Scratch.maxInputs(spec));
    }

    ModelWeights load() {
        try {
            PackedMatrix embedding = head(weights.embedding());
            PackedMatrix head = weights.tiedHead() ? embedding : head(weights.head());
            List<Layer> layers = new ArrayList<>();
            for (int layer = 0; layer < spec.layers(); layer++) {
                layers.add(layer(weights.blocks().get(layer), spec.block(layer)));
            }
            float[] positions = weights.positions().map(WeightLoader::table).orElse(NONE);
            Norm norm = norm(weights.norm(), spec.head().norm());
            return new ModelWeights(embedding, positions, layers, norm, head);
        } catch (InternalError e) {
            // The JVM reports an unreadable page of a mapped file this way.
            throw new BadModel(
                    weights.description()
                            + ": a weight file was truncated or replaced while it was read; load it again",
                    e);
        }
    }

    private Layer layer(Weights.Block block, BlockSpec of) {
        return new Layer(
                norm(block.attentionNorm(), of.norm()),
                linear(block.qkv(), false),
                heads(block.qkNorms(), of),
                linear(block.output(), false),
                norm(block.mlpNorm(), of.norm()),
                linear(block.inner(), of.mlp().gated()),
                linear(block.down(), false));
    }

    private static Norm norm(Weights.Norm norm, BlockSpec.Norm of) {
        float[] weight = norm.weight().read();
        boolean plain = of.kind() == Kind.LAYER && norm.bias().isEmpty();
        return new Norm(of.kind(), weight, plain ? new float[weight.length] : bias(norm.bias()), of.epsilon());
    }

    private Heads heads(Optional<Weights.QkNorms> norms, BlockSpec of) {
        Check.that(norms.isEmpty() || of.norm().kind() == Kind.RMS, "QK norm is an RMS norm");
        Optional<RopeTable> table = of.positions() instanceof Rope rope
                ? Optional.of(tables.computeIfAbsent(rope, each -> new RopeTable(each, spec.contextLength())))
                : Optional.empty();
        return new Heads(
                norms.map(each -> norm(each.queries(), of.norm())),
                norms.map(each -> norm(each.keys(), of.norm())),
                table);
    }

    private Linear linear(Matrix matrix, boolean gated) {
        PanelOrder order = new PanelOrder(matrix.outputs(), gated);
        return new Linear(matrix(matrix, format, order), order.arrange(bias(matrix.bias())));
    }

    private PackedMatrix head(Matrix matrix) {
        return matrix(matrix, format.ofHead(), new PanelOrder(matrix.outputs(), false));
    }

    private static float[] bias(Optional<Vector> bias) {
        return bias.map(Vector::read).orElse(NONE);
    }

    /** Reads all rows of a lookup table. */
    private static float[] table(Matrix matrix) {
        float[] rows = new float[Math.multiplyExact(matrix.outputs(), matrix.inputs())];
        try (Arena reading = Arena.ofConfined()) {
            matrix.open(reading).copyRows(rows);
        }
        return rows;
    }

    private PackedMatrix matrix(Matrix matrix, WeightFormat own, PanelOrder order) {
        int inputs = matrix.inputs();
        int outputs = order.packedOutputs();
        MemorySegment memory = target.allocate(PackedMatrix.bytes(own, inputs, outputs), 64);
        int scales = own.scalesOutputs() ? PackedMatrix.panels(outputs) * PackedMatrix.COLUMNS : 0;
        PackedMatrix packed = new PackedMatrix(own, inputs, outputs, memory, new float[scales]);
        try (Arena reading = Arena.ofShared()) {
            PanelPacker packer = new PanelPacker(matrix.open(reading), packed, order);
            team.run(worker -> {
                int end = team.share(packed.panels(), worker + 1);
                for (int panel = team.share(packed.panels(), worker); panel < end; panel++) {
                    packer.pack(panel, buffers[worker]);
                }
            });
        }
        return packed;
    }
}
