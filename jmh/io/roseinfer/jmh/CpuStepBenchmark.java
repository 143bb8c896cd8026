package io.roseinfer.jmh;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.model.Gpt2Shapes;
import io.roseinfer.model.Gpt2Weights;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.RandomWeights;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
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
 * Question: how long is a whole step of the GPT-2 124M shape? {@code step} is rows × new tokens per row × tokens before them: the
 * first three decode, the last two prefill. Tokens per second are rows × tokens / time.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
@Warmup(iterations = 5, time = 4)
@Measurement(iterations = 5, time = 2)
public class CpuStepBenchmark {
    private static final int BLOCK = 16;

    @Param({"1x1x64", "8x1x64", "32x1x64", "1x256x0", "1x1024x0"})
    public String step;

    @Param({"FP32", "BF16", "INT8"})
    public Precision precision;

    @Param({"0"})
    public int threads;

    private ModelRunner runner;
    private StepInputs inputs;
    private StepOutputs outputs;

    /** Loads the model and packs the step once: running it again only writes the same keys and values again. */
    @Setup
    public void load() {
        ModelSpec spec = Gpt2Shapes.named("gpt2").orElseThrow();
        String[] parts = step.split("x");
        int rows = Integer.parseInt(parts[0]);
        int tokens = Integer.parseInt(parts[1]);
        int before = Integer.parseInt(parts[2]);
        int blocks = Math.ceilDiv(before + tokens, BLOCK);
        CpuOptions options = new CpuOptions(threads, precision, KernelChoice.BEST);
        runner = new CpuBackend(options)
                .load(
                        Gpt2Weights.bind(spec, new RandomWeights(spec, 0)),
                        new RunnerLimits(rows, rows * tokens, BLOCK, rows * blocks));
        inputs = runner.newInputs();
        outputs = runner.newOutputs();
        inputs.clear();
        for (int row = 0; row < rows; row++) {
            inputs.beginRow();
            for (int position = before; position < before + tokens; position++) {
                int slot = row * blocks * BLOCK + position;
                inputs.addToken((position * 31 + row) % spec.vocabularySize(), position, slot);
            }
            for (int block = 0; block < blocks; block++) {
                inputs.addBlock(row * blocks + block);
            }
            inputs.endRow(before + tokens);
            inputs.sampleLastRow(new SampleRequest(SamplingParams.greedy(), 0, TokenHistory.NONE));
        }
    }

    @TearDown
    public void close() {
        runner.close();
    }

    @Benchmark
    public int run() {
        runner.submit(inputs, outputs);
        runner.await();
        return outputs.token(0);
    }
}
