package io.roseinfer.jmh;

import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: what do KV blocks cost a request: allocating and releasing the blocks of its prompt, from a free pool and from a pool that
 * must evict a cached block for each; and looking up its prompt in the prefix cache, with a hit, or a miss at the first or last block?
 * Per prompt, blocks of 16 tokens.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class KvBenchmark {
    private static final int BLOCK_SIZE = 16;
    private static final int BLOCKS = 16_384;

    @Param({"128", "1024"})
    public int promptTokens;

    private BlockTable free;
    private BlockTable evicting;
    private BlockTable cached;
    private int[] known;
    private int[] otherStart;
    private int[] otherEnd;
    private int[] fresh;
    private int unique;

    @Setup
    public void fill() {
        int length = promptTokens + 1;
        free = new BlockTable(new KvBlockPool(BLOCKS, BLOCK_SIZE, true), length);
        evicting = new BlockTable(new KvBlockPool(promptTokens / BLOCK_SIZE + 1, BLOCK_SIZE, true), length);
        KvBlockPool pool = new KvBlockPool(BLOCKS, BLOCK_SIZE, true);
        for (int prompt = 0; prompt < BLOCKS * BLOCK_SIZE / promptTokens; prompt++) {
            publish(new BlockTable(pool, length), prompt(length, prompt));
        }
        cached = new BlockTable(pool, length);
        // Half of all, so that it was not forgotten.
        known = prompt(length, BLOCKS * BLOCK_SIZE / promptTokens / 2);
        otherStart = known.clone();
        otherStart[0] = -1;
        otherEnd = known.clone();
        otherEnd[promptTokens - 1] = -1;
        fresh = prompt(length, 0);
    }

    private static int[] prompt(int length, int number) {
        return IntStream.range(0, length).map(i -> number * 7919 + i).toArray();
    }

    private static void publish(BlockTable table, int[] prompt) {
        table.grow(prompt.length - 1);
        table.publish(prompt, prompt.length - 1);
        table.release();
    }

    @Benchmark
    public boolean allocateAndRelease() {
        boolean grown = free.grow(promptTokens);
        free.release();
        return grown;
    }

    /** The pool is full of unreferenced blocks of the previous prompt, so every block is evicted and published again. */
    @Benchmark
    public int evictAndPublish() {
        fresh[0] = unique++;
        publish(evicting, fresh);
        return evicting.size();
    }

    @Benchmark
    public int matchWholePrompt() {
        return match(known);
    }

    @Benchmark
    public int matchAllButTheLastBlock() {
        return match(otherEnd);
    }

    @Benchmark
    public int missAtTheFirstBlock() {
        return match(otherStart);
    }

    private int match(int[] prompt) {
        int reused = cached.reuse(prompt, prompt.length);
        cached.release();
        return reused;
    }
}
