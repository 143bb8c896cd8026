package io.roseinfer.backend.cpu;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cpu.ModelWeights.Heads;
import io.roseinfer.backend.cpu.ModelWeights.Norm;
import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.RopeTable;
import java.util.Optional;

/** Attention of one layer: QK norm, RoPE, KV append, attention. Workers claim (row, KV-head group) items. */
final class AttentionPass {
    private final ModelSpec spec;
    private final ModelWeights weights;
    private final KvPool pool;
    private final WorkerTeam team;
    private final Worker[] workers;
    private final Scratch scratch;

    AttentionPass(
            ModelSpec spec, ModelWeights weights, KvPool pool, WorkerTeam team, Worker[] workers, Scratch scratch) {
        this.spec = spec;
        this.weights = weights;
        this.pool = pool;
        this.team = team;
        this.workers = workers;
        this.scratch = scratch;
    }

    /**
     * Runs a worker's part. A (row, KV head) pair writes its keys and values before it reads them, so pairs are independent. An item is a
     * group of adjacent KV heads of a row, whose keys and values are adjacent in memory.
     */
    void run(int worker, StepInputs step, int[] blocks, int layer, int first, int count) {
        int heads = spec.attention().kvHeads();
        int window = spec.block(layer).attention().window();
        int groups = Math.min(team.size(), heads);
        int item;
        while ((item = team.claim(step.rows() * groups, worker)) != WorkerTeam.NONE) {
            int row = item / groups;
            int from = Math.max(step.rowStart(row), first);
            int to = Math.min(step.rowStart(row + 1), first + count);
            int end = (item % groups + 1) * heads / groups;
            for (int head = item % groups * heads / groups; from < to && head < end; head++) {
                workers[worker].view.move(blocks, step.blockStart(row), layer, head, window);
                prepare(workers[worker], step, layer, head, first, from, to);
                append(step, layer, head, first, from, to);
                attendGroup(workers[worker], step, layer, head, first, count, from, to);
            }
        }
    }

    /** Applies QK norm and RoPE to the queries and keys of one KV head, in place. */
    private void prepare(Worker own, StepInputs step, int layer, int head, int first, int from, int to) {
        Heads heads = weights.layers().get(layer).heads();
        if (heads.arePlain()) {
            return;
        }
        BlockSpec.Attention attention = spec.attention();
        int size = attention.headSize();
        int group = attention.heads() / attention.kvHeads();
        for (int t = from; t < to; t++) {
            int row = (t - first) * attention.qkvWidth();
            for (int query = head * group; query < (head + 1) * group; query++) {
                prepare(own.kernels.rows(), heads, heads.queries(), row + query * size, step.position(t));
            }
            int key = row + attention.queryWidth() + head * size;
            prepare(own.kernels.rows(), heads, heads.keys(), key, step.position(t));
        }
    }

    private void prepare(RowMath rows, Heads heads, Optional<Norm> norm, int at, int position) {
        if (norm.isPresent()) {
            rows.rmsNorm(scratch.qkv, at, norm.get().weight(), norm.get().epsilon(), scratch.qkv, at);
        }
        Optional<RopeTable> rope = heads.rope();
        if (rope.isPresent()) {
            RopeTable table = rope.get();
            rows.rotate(scratch.qkv, at, table.array(position), table.offset(position), table.pairs());
        }
    }

    private void append(StepInputs step, int layer, int head, int first, int from, int to) {
        BlockSpec.Attention heads = spec.attention();
        for (int t = from; t < to; t++) {
            int key = (t - first) * heads.qkvWidth() + heads.queryWidth() + head * heads.headSize();
            pool.append(step.slot(t), layer, head, scratch.qkv, key, key + heads.kvWidth());
        }
    }

    /** Attends all queries of one KV head: one query head at a time for several tokens, all together for a decode row. */
    private void attendGroup(Worker own, StepInputs step, int layer, int head, int first, int count, int from, int to) {
        int group = spec.attention().heads() / spec.attention().kvHeads();
        if (to - from == 1) {
            for (int i = 0; i < group; i += Attention.MAX_QUERIES) {
                int queries = Math.min(Attention.MAX_QUERIES, group - i);
                attendToken(own, step, layer, head * group + i, queries, first, count, from);
            }
        } else {
            for (int query = head * group; query < (head + 1) * group; query++) {
                attendHead(own, step, layer, query, first, count, from, to);
            }
        }
    }

    private void attendToken(Worker own, StepInputs step, int layer, int head, int heads, int first, int count, int t) {
        BlockSpec.Attention attention = spec.block(layer).attention();
        int size = attention.headSize();
        int width = attention.queryWidth();
        int m = t - first;
        int query = m * attention.qkvWidth() + head * size;
        int length = step.position(t) + 1;
        own.kernels.attention().attendHeads(own.view, scratch.qkv, query, heads, length, attention.scale(), own.heads);
        int tallest = own.tallestTile(scratch.attended);
        RowTiles.put(own.heads, 0, heads * size, scratch.attended.floats(), width, head * size, m, count, tallest);
    }

    private void attendHead(Worker own, StepInputs step, int layer, int head, int first, int count, int from, int to) {
        BlockSpec.Attention attention = spec.block(layer).attention();
        int width = attention.queryWidth();
        int stride = attention.qkvWidth();
        int headSize = attention.headSize();
        float scale = attention.scale();
        for (int t = from; t < to; t += Attention.MAX_QUERIES) {
            int queries = Math.min(Attention.MAX_QUERIES, to - t);
            int query = (t - first) * stride + head * headSize;
            int length = step.position(t) + 1;
            own.kernels.attention().attend(own.view, scratch.qkv, query, stride, queries, length, scale, own.heads);
            for (int i = 0; i < queries; i++) {
                int m = t - first + i;
                RowTiles.put(
                        own.heads,
                        i * headSize,
                        headSize,
                        scratch.attended.floats(),
                        width,
                        head * headSize,
                        m,
                        count,
                        own.tallestTile(scratch.attended));
            }
        }
    }
}
