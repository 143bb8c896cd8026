package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepSample;
import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.Sampler;
import io.roseinfer.sampling.SamplingParams;
import java.util.List;

/** One worker's state: kernels, KV view, sampler and small buffers. */
final class Worker {
    private final List<Kernels> kinds;
    /** The kernels of this step; changed between steps only. */
    Kernels kernels;

    final KvView view;
    final Sampler sampler;
    final StepSample sample = new StepSample();
    /** Accumulators of one panel, [row][COLUMNS]. */
    final float[] sums;
    /** Accumulators of a gate's panel, [row][COLUMNS]; empty without a gate. */
    final float[] gates;
    /** One row of the residual stream. */
    final float[] row;
    /** One row of a matmul's input, quantized. */
    final int[] words;
    /** Attention output of a few queries of one head, [query][headSize]. */
    final float[] heads;
    /** A copy of unmodified logits, while the sampler changes the original. */
    final float[] rawLogits;

    final int[] topTokens;

    /** Prefetch during barriers. */
    final BarrierPrefetch prefetch = new BarrierPrefetch();

    /** Operator times; changed between steps only. */
    OperatorTimes times = OperatorTimes.OFF;

    Worker(ModelSpec spec, RunnerLimits limits, List<Kernels> kinds, KvPool pool) {
        this.kinds = List.copyOf(kinds);
        this.kernels = kinds.getFirst();
        this.view = new KvView(pool);
        this.sampler = new Sampler(spec.vocabularySize());
        ArrayPlan plan = plan(spec, limits);
        this.sums = plan.floats("sums");
        this.gates = plan.floats("gates");
        this.row = plan.floats("row");
        this.words = plan.ints("words");
        this.heads = plan.floats("heads");
        this.rawLogits = plan.floats("raw logits");
        this.topTokens = plan.ints("top tokens");
    }

    private static ArrayPlan plan(ModelSpec spec, RunnerLimits limits) {
        long sums = (long) Scratch.maxRows(limits) * PackedMatrix.COLUMNS;
        return new ArrayPlan()
                .add("sums", sums)
                .add("gates", spec.mlp().gated() ? sums : 0)
                .add("row", spec.width())
                .add("words", QuantizedRows.words(Scratch.maxInputs(spec)))
                .add("heads", (long) Attention.MAX_QUERIES * spec.attention().headSize())
                .add("raw logits", spec.vocabularySize())
                .add("top tokens", SamplingParams.MAX_LOGPROBS);
    }

    /** Returns the bytes of a worker's arrays, sampler and kernels. */
    static long bytes(ModelSpec spec, RunnerLimits limits, WeightFormat format, List<Kernels.Factory> kinds) {
        return plan(spec, limits).bytes()
                + Sampler.bytes(spec.vocabularySize())
                + kinds.stream()
                        .mapToLong(kind -> kind.bytes(format, spec.contextLength()))
                        .sum();
    }

    /** Selects the kernels of the next step. */
    void use(int kind) {
        kernels = kinds.get(kind);
    }

    /** Returns the tallest row tile of a matmul's input: one row if rows are quantized afterwards. */
    int tallestTile(MatmulInput input) {
        return input.isQuantized() ? 1 : kernels.blocks().tallestTile();
    }

    /** Writes a row of a matmul's input of {@code count} rows, quantized if the matmul reads quantized inputs. */
    void put(float[] row, int from, int inputs, MatmulInput input, int m, int count) {
        int tallest = kernels.blocks().tallestTile();
        if (input.isQuantized()) {
            kernels.rows().quantize(row, from, inputs, words);
            QuantizedRows.put(words, inputs, input.words(), m, count, tallest);
        } else {
            RowTiles.put(row, from, inputs, input.floats(), inputs, 0, m, count, tallest);
        }
    }

    /** Ends an operator and waits at a barrier; prefetches from {@code next}, the next matmul's weights. */
    void barrierAfter(Operator operator, WorkerTeam team, int self, PackedMatrix next) {
        times.end(operator);
        prefetch.aim(next, team.share(next.panels(), self), team.share(next.panels(), self + 1));
        team.barrier(self, prefetch);
        times.end(Operator.WAITING);
    }
}
