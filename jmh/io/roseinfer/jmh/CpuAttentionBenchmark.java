package io.roseinfer.jmh;

import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.panama.VectorKernels;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: what does attention of one head (64 dimensions) cost, for one query (decode) and eight (prefill), against context
 * and block size, and how near does it come to the ceilings of {@link CpuCeilingBenchmark}? Queries over n tokens read 512·n bytes
 * of keys and values, which a cache may hold here, and do 256·n operations and n exponentials each.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CpuAttentionBenchmark {
    private static final int HEAD_SIZE = 64;
    private static final int WIDTH = 2304;

    @Param({"1", "8"})
    public int queries;

    @Param({"128", "1024"})
    public int context;

    @Param({"8", "16", "32"})
    public int blockSize;

    @Param({"128", "256", "512"})
    public int width;

    private Arena arena;
    private Kernels kernels;
    private KvView view;
    private float[] qkv;
    private float[] output;

    @Setup
    public void fill() {
        int blocks = Math.ceilDiv(context, blockSize);
        arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(KvPool.bytes(blocks * KvPool.blockBytes(1, 1, HEAD_SIZE, blockSize)), 64);
        KvPool pool = new KvPool(memory, 1, 1, HEAD_SIZE, blockSize);
        view = new KvView(pool);
        int[] list = new int[blocks];
        Arrays.setAll(list, i -> blocks - 1 - i);
        view.move(list, 0, 0, 0, Integer.MAX_VALUE);
        qkv = new float[queries * WIDTH];
        Arrays.fill(qkv, 0.5f);
        output = new float[queries * HEAD_SIZE];
        kernels = (width == 0 ? new ScalarKernels() : new VectorKernels(width)).create(new Fp32Weights(), context);
    }

    @TearDown
    public void free() {
        arena.close();
    }

    @Benchmark
    public float[] attend(Work work) {
        kernels.attention().attend(view, qkv, 0, WIDTH, queries, context - queries + 1, 0.125f, output);
        work.gflop += 4e-9 * HEAD_SIZE * queries * (context - 0.5 * (queries - 1));
        work.gbyte += 8e-9 * HEAD_SIZE * context;
        return output;
    }
}
