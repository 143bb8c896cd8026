package io.roseinfer.jmh;

import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
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
 * Question: how near the ceilings of {@link CpuCeilingBenchmark} do the matrix products come, by rows, format and width? One
 * operation is a whole product on one thread, whose weights are its own. {@code width=0} is the scalar reference; 768×50257 does
 * not fit any cache, the others may fit the third level.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CpuProductBenchmark {
    @Param({"1", "8", "32", "256"})
    public int rows;

    @Param({"768x2304", "768x3072", "3072x768", "768x50257"})
    public String shape;

    @Param({"F32", "BF16", "INT8", "INT4"})
    public String format;

    @Param({"128", "256", "512"})
    public int width;

    private Arena arena;
    private Kernels kernels;
    private PackedMatrix weights;
    private MatmulInput x;
    private float[] sums;

    @Setup
    public void pack() {
        int inputs = Integer.parseInt(shape.substring(0, shape.indexOf('x')));
        int outputs = Integer.parseInt(shape.substring(shape.indexOf('x') + 1));
        WeightFormat packed = WeightFormat.all().stream()
                .filter(each -> each.label().equalsIgnoreCase(format))
                .findFirst()
                .orElseThrow();
        arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(PackedMatrix.bytes(packed, inputs, outputs), 64);
        weights = new PackedMatrix(packed, inputs, outputs, memory, new float[0]);
        kernels = (width == 0 ? new ScalarKernels() : new VectorKernels(width)).create(packed, 1);
        x = MatmulInput.zeros(packed, rows, inputs);
        Arrays.fill(x.floats(), 0.5f);
        int[] words = new int[QuantizedRows.words(inputs)];
        kernels.rows().quantize(x.floats(), 0, inputs, words);
        for (int row = 0; row < rows && x.isQuantized(); row++) {
            QuantizedRows.put(
                    words, inputs, x.words(), row, rows, kernels.blocks().tallestTile());
        }
        sums = new float[rows * PackedMatrix.COLUMNS];
    }

    @TearDown
    public void free() {
        arena.close();
    }

    @Benchmark
    public float[] product(Work work) {
        for (int panel = 0; panel < weights.panels(); panel++) {
            kernels.blocks().multiply(x, rows, weights, panel, sums);
        }
        work.gflop += 2e-9 * rows * weights.inputs() * weights.outputs();
        work.gbyte += 1e-9 * weights.memory().byteSize();
        return sums;
    }
}
