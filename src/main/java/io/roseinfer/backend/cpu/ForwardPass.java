package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cpu.ModelWeights.Layer;
import io.roseinfer.backend.cpu.ModelWeights.Linear;
import io.roseinfer.backend.cpu.ModelWeights.Norm;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.base.Clock;
import io.roseinfer.model.BlockSpec.Residual;
import io.roseinfer.model.ModelSpec;

/**
 * The transformer blocks of a step. Every worker runs {@link #run}, with barriers between dependent phases. Norm rows are partitioned
 * statically; matmul panels are claimed dynamically.
 */
final class ForwardPass {
    private final ModelSpec spec;
    private final ModelWeights weights;
    private final WorkerTeam team;
    private final Worker[] workers;
    private final Scratch scratch;
    private final AttentionPass attention;

    ForwardPass(ModelSpec spec, ModelWeights weights, KvPool pool, WorkerTeam team, Worker[] workers, Scratch scratch) {
        this.spec = spec;
        this.weights = weights;
        this.team = team;
        this.workers = workers;
        this.scratch = scratch;
        this.attention = new AttentionPass(spec, weights, pool, team, workers, scratch);
    }

    /** Starts timing the workers' steps. */
    OperatorRecorder record(Clock clock) {
        return new OperatorRecorder(clock, new StepWork(spec, weights), workers);
    }

    /** Selects the kernels of the next step. */
    void use(int kind) {
        for (Worker worker : workers) {
            worker.use(kind);
        }
    }

    /** Prepares shared state before the workers start. */
    void begin(StepInputs step) {
        int farthest = 0;
        for (int t = 0; t < step.tokens(); t++) {
            farthest = Math.max(farthest, step.position(t));
        }
        weights.ensureRopeRows(farthest);
        for (Worker worker : workers) {
            worker.kernels.attention().ensureCapacity(farthest + 1);
        }
    }

    /** Runs a worker's part of a step: fills the KV pool, and {@link Scratch#sampled}. */
    void run(int worker, StepInputs step, int[] blocks) {
        workers[worker].times.end(Operator.START);
        for (int first = 0; first < step.tokens(); first += Scratch.TOKENS) {
            int count = Math.min(Scratch.TOKENS, step.tokens() - first);
            embed(worker, step, first, count);
            workers[worker].times.end(Operator.EMBEDDING);
            for (int layer = 0; layer < spec.layers(); layer++) {
                Layer of = weights.layers().get(layer);
                norm(worker, of.attentionNorm(), count);
                barrierAfter(Operator.NORM, worker, of.qkv());
                project(worker, of.qkv(), count);
                if (spec.block(layer).residual() == Residual.PARALLEL) {
                    parallel(worker, step, blocks, layer, first, count);
                } else {
                    sequential(worker, step, blocks, layer, first, count);
                }
                barrierAfter(Operator.MLP_OUTPUT, worker, after(layer));
            }
            gather(worker, step, first, count);
        }
    }

    /** The rest of a block after QKV: attention, then MLP. */
    private void sequential(int worker, StepInputs step, int[] blocks, int layer, int first, int count) {
        Layer of = weights.layers().get(layer);
        barrierAfter(Operator.QKV, worker, of.attentionOutput());
        attention.run(worker, step, blocks, layer, first, count);
        barrierAfter(Operator.ATTENTION, worker, of.attentionOutput());
        addProduct(worker, of.attentionOutput(), scratch.attended, count);
        barrierAfter(Operator.ATTENTION_OUTPUT, worker, of.mlpInner());
        norm(worker, of.mlpNorm(), count);
        barrierAfter(Operator.NORM, worker, of.mlpInner());
        expand(worker, of.mlpInner(), count);
        barrierAfter(Operator.MLP_INNER, worker, of.mlpOutput());
        addProduct(worker, of.mlpOutput(), scratch.inner, count);
    }

    /**
     * The rest of a block with parallel residual. The MLP's input is normalized before attention adds to the residual stream, and read
     * before the attention output is quantized into the same buffer.
     */
    private void parallel(int worker, StepInputs step, int[] blocks, int layer, int first, int count) {
        Layer of = weights.layers().get(layer);
        barrierAfter(Operator.QKV, worker, of.mlpInner());
        norm(worker, of.mlpNorm(), count);
        workers[worker].times.end(Operator.NORM);
        attention.run(worker, step, blocks, layer, first, count);
        barrierAfter(Operator.ATTENTION, worker, of.mlpInner());
        expand(worker, of.mlpInner(), count);
        barrierAfter(Operator.MLP_INNER, worker, of.attentionOutput());
        addProduct(worker, of.attentionOutput(), scratch.attended, count);
        barrierAfter(Operator.ATTENTION_OUTPUT, worker, of.mlpOutput());
        addProduct(worker, of.mlpOutput(), scratch.inner, count);
    }

    /** Adds {@code x · matrix + bias} to the residual stream. */
    private void addProduct(int worker, Linear linear, MatmulInput x, int count) {
        quantize(worker, x, count, linear);
        accumulate(worker, linear, x, count);
    }

    private void barrierAfter(Operator operator, int worker, Linear next) {
        barrierAfter(operator, worker, next.matrix());
    }

    private void barrierAfter(Operator operator, int worker, PackedMatrix next) {
        workers[worker].barrierAfter(operator, team, worker, next);
    }

    /** Returns the weights used after a layer, to prefetch them. */
    private PackedMatrix after(int layer) {
        return layer + 1 < spec.layers() ? weights.layers().get(layer + 1).qkv().matrix() : weights.head();
    }

    private void embed(int worker, StepInputs step, int first, int count) {
        int width = spec.width();
        for (int m = worker; m < count; m += team.size()) {
            int to = m * width;
            weights.tokenEmbedding().output(step.tokenId(first + m), scratch.residual, to);
            if (weights.positions().length > 0) {
                int position = step.position(first + m) * width;
                for (int i = 0; i < width; i++) {
                    scratch.residual[to + i] += weights.positions()[position + i];
                }
            }
        }
    }

    /** Normalizes the same rows as {@link #embed}, so that no barrier is needed in between. */
    private void norm(int worker, Norm norm, int count) {
        int width = spec.width();
        Worker own = workers[worker];
        for (int m = worker; m < count; m += team.size()) {
            norm.apply(own.kernels.rows(), scratch.residual, m * width, own.row);
            own.put(own.row, 0, width, scratch.normed, m, count);
        }
    }

    /**
     * Quantizes the rows of {@code x} if the matmul reads quantized inputs. A separate phase, since a quantization group may span several
     * workers' outputs, and quantizing all rows in every worker would cost more with more rows.
     */
    private void quantize(int worker, MatmulInput x, int count, Linear next) {
        if (!x.isQuantized()) {
            return;
        }
        int inputs = next.matrix().inputs();
        for (int m = worker; m < count; m += team.size()) {
            workers[worker].put(x.floats(), m * inputs, inputs, x, m, count);
        }
        barrierAfter(Operator.QUANTIZE, worker, next);
    }

    private void project(int worker, Linear linear, int count) {
        Worker own = workers[worker];
        PackedMatrix matrix = linear.matrix();
        int panel;
        while ((panel = team.claim(matrix.panels(), worker)) != WorkerTeam.NONE) {
            multiply(own, scratch.normed, count, linear, panel, own.sums);
            Epilogue.store(own.sums, count, matrix, panel, scratch.qkv);
        }
    }

    private void accumulate(int worker, Linear linear, MatmulInput x, int count) {
        Worker own = workers[worker];
        PackedMatrix matrix = linear.matrix();
        int panel;
        while ((panel = team.claim(matrix.panels(), worker)) != WorkerTeam.NONE) {
            multiply(own, x, count, linear, panel, own.sums);
            Epilogue.add(own.sums, count, matrix, panel, scratch.residual);
        }
    }

    private void multiply(Worker own, MatmulInput x, int count, Linear linear, int panel, float[] sums) {
        own.kernels.blocks().multiply(x, count, linear.matrix(), panel, sums);
        Epilogue.finish(sums, count, linear, panel);
    }

    private void expand(int worker, Linear linear, int count) {
        Worker own = workers[worker];
        int inner = spec.mlp().inner();
        int panel;
        while ((panel = team.claim(PackedMatrix.panels(inner), worker)) != WorkerTeam.NONE) {
            if (spec.mlp().gated()) {
                multiplyGated(own, linear, count, panel);
            } else {
                multiply(own, scratch.normed, count, linear, panel, own.sums);
                own.kernels.rows().activate(spec.mlp().activation(), own.sums, count * COLUMNS);
            }
            int input = panel * COLUMNS;
            int columns = Math.min(COLUMNS, inner - input);
            int tallest = own.tallestTile(scratch.inner);
            for (int m = 0; m < count; m++) {
                RowTiles.put(own.sums, m * COLUMNS, columns, scratch.inner.floats(), inner, input, m, count, tallest);
            }
        }
    }

    /** Leaves activation(gate) · up of one panel in the worker's sums. */
    private void multiplyGated(Worker own, Linear linear, int count, int panel) {
        RowMath rows = own.kernels.rows();
        multiply(own, scratch.normed, count, linear, 2 * panel, own.gates);
        rows.activate(spec.mlp().activation(), own.gates, count * COLUMNS);
        multiply(own, scratch.normed, count, linear, 2 * panel + 1, own.sums);
        rows.multiply(own.sums, own.gates, count * COLUMNS);
    }

    private void gather(int worker, StepInputs step, int first, int count) {
        int width = spec.width();
        for (int sample = worker; sample < step.samples(); sample += team.size()) {
            int token = step.sampleToken(sample) - first;
            if (token >= 0 && token < count) {
                System.arraycopy(scratch.residual, token * width, scratch.sampled, sample * width, width);
            }
        }
        // The next tile overwrites the residual stream.
        barrierAfter(Operator.GATHER, worker, weights.head());
    }
}
