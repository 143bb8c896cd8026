package io.roseinfer.backend.cuda;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Clock;
import io.roseinfer.model.files.ModelFiles;
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
 * Question: how long is each kernel of a decode step of the GPT-2 124M shape on a GPU with a cold L2 cache, compared with the
 * lower bound set by its bytes and arithmetic? The device's times are in the rows {@code chains:NAME} and
 * {@code chains:NAME_floor}, which need {@code -prof io.roseinfer.backend.cuda.DeviceTimes}; the host's time of {@code chains} is
 * the sum of all kernels and the flushes between them. Context 132, fp16.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class CudaKernelBenchmark {
    private static final int BLOCK = 16;
    private static final int BLOCKS_PER_ROW = 9;

    @Param({"1", "8", "64", "256"})
    public int rows;

    private CudaModelRunner runner;
    private KernelChains chains;

    /** Loads the model; the first that fails for want of a GPU says why. */
    @Setup
    public void load() {
        ModelFiles model = ModelFiles.random("gpt2", 0);
        CudaOptions options =
                CudaOptions.defaults().withPrecision(Precision.FP16).withGraphs(false);
        RunnerLimits limits = new RunnerLimits(rows, rows, BLOCK, rows * BLOCKS_PER_ROW);
        CudaBackend backend = CudaBackend.open(options, Clock.system());
        runner = (CudaModelRunner) backend.load(model.spec(), model.weights(), limits);
        chains = new KernelChains(runner, rows);
    }

    @TearDown
    public void close() {
        chains.close();
        runner.close();
    }

    @Benchmark
    public void chains() {
        chains.run();
    }
}
