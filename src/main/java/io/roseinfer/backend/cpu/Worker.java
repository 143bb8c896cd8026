package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.Sampler;
import io.roseinfer.sampling.SamplingParams;
import java.util.List;

/** What one worker owns: its kernels, its place in the KV pool, and small buffers. */
final class Worker {
    /** What a {@link Sampler} holds per token of the vocabulary. */
    private static final long SAMPLER_BYTES = 16;

    private final List<Kernels> kinds;
    /** The kernels of this step; changed between steps only. */
    Kernels kernels;

    final KvView view;
    final Sampler sampler;
    /** Sums of one panel, [row][COLUMNS]. */
    final float[] sums;
    /** Likewise of the panel of a gate; empty where the MLP has none. */
    final float[] gates;
    /** One row of the residual stream. */
    final float[] row;
    /** One row of a product's input, quantized. */
    final int[] words;
    /** What a few queries of one head attend to, [query][headSize]. */
    final float[] heads;
    /** A row of logits as the model gave it, while the sampler changes the other. */
    final float[] rawLogits;

    final int[] topTokens;

    /** What it does while it waits. */
    final BarrierPrefetch prefetch = new BarrierPrefetch();

    /** Where its time goes; changed between steps only. */
    OperatorTimes times = OperatorTimes.OFF;

    Worker(ModelSpec spec, RunnerLimits limits, List<Kernels> kinds, KvPool pool) {
        this.kinds = List.copyOf(kinds);
        this.kernels = kinds.getFirst();
        this.view = new KvView(pool);
        this.sampler = new Sampler(spec.vocabularySize());
        this.sums = new float[Scratch.mostRows(limits) * PackedMatrix.COLUMNS];
        this.gates = new float[spec.mlp().gated() ? sums.length : 0];
        this.row = new float[spec.width()];
        this.words = new int[QuantizedRows.words(Scratch.mostInputs(spec))];
        this.heads = new float[Attention.MAX_QUERIES * spec.attention().headSize()];
        this.rawLogits = new float[spec.vocabularySize()];
        this.topTokens = new int[SamplingParams.MAX_LOGPROBS];
    }

    /** Takes the kernels of one kind for the next step. */
    void use(int kind) {
        kernels = kinds.get(kind);
    }

    /** The tallest tile of rows that the products of this step read. */
    int tallestTile() {
        return kernels.product().tallestTile();
    }

    /** Ends an operator whose results the others need, or that needs theirs to come. {@code next} is what it multiplies by next. */
    void meetAfter(Operator operator, WorkerTeam team, int self, PackedMatrix next) {
        times.end(operator);
        prefetch.aim(next, team.share(next.panels(), self), team.share(next.panels(), self + 1));
        team.meet(self, prefetch);
        times.end(Operator.WAITING);
    }

    /** Bytes of one worker's buffers, its kernels' and its sampler's included. */
    static long bytes(ModelSpec spec, RunnerLimits limits) {
        long sums = (long) Scratch.mostRows(limits) * PackedMatrix.COLUMNS;
        long scores = (long) Attention.MAX_QUERIES * spec.contextLength();
        return 4 * ((spec.mlp().gated() ? 2 : 1) * sums + scores) + (4 + SAMPLER_BYTES) * spec.vocabularySize();
    }
}
